// RUN: optc --passes=layout,fuse
// The sequence that is made of the image does not separate the convolution from its activation. %3 reads two
// values, so it stays after its reshape.

func.func @main(%x: tensor<1x4x3x4xf32>, %w: tensor<4x4x1x1xf32>, %y: tensor<1x4x12xf32>) -> tensor<1x4x12xf32> {
  %0 = nn.conv2d %x, %w : (tensor<1x4x3x4xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x3x4xf32>
  %1 = nn.reshape %0 {shape = array<i64: 1, 4, 12>} : (tensor<1x4x3x4xf32>) -> tensor<1x4x12xf32>
  %2 = nn.gelu %1 : tensor<1x4x12xf32>
  %3 = nn.mul %2, %y : tensor<1x4x12xf32>
  return %3 : tensor<1x4x12xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x4x3x4xf32>, %arg1: tensor<4x4x1x1xf32>, %arg2: tensor<1x4x12xf32>) -> tensor<1x4x12xf32> attributes {optc.stage = "fuse"} {
//     %0 = nn.transpose %arg0 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x4x3x4xf32>) -> tensor<1x3x4x4xf32>
//     %1 = optc.group(%arg3 = %0, %arg4 = %arg1) : (tensor<1x3x4x4xf32>, tensor<4x4x1x1xf32>) -> tensor<1x3x4x4xf32> {
//       %5 = nn.conv2d %arg3, %arg4 {layout = "NHWC"} : (tensor<1x3x4x4xf32>, tensor<4x4x1x1xf32>) -> tensor<1x3x4x4xf32>
//       %6 = nn.gelu %5 : tensor<1x3x4x4xf32>
//       optc.yield %6 : tensor<1x3x4x4xf32>
//     }
//     %2 = nn.reshape %1 {shape = array<i64: 1, 12, 4>} : (tensor<1x3x4x4xf32>) -> tensor<1x12x4xf32>
//     %3 = nn.transpose %2 {permutation = array<i64: 0, 2, 1>} : (tensor<1x12x4xf32>) -> tensor<1x4x12xf32>
//     %4 = nn.mul %3, %arg2 : tensor<1x4x12xf32>
//     return %4 : tensor<1x4x12xf32>
//   }
// }
