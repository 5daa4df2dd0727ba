// RUN: optc --passes=layout,fuse,precision
// Where each channel is a group of its own, no kernel multiplies bf16; around it everything stays as it was.

func.func @main(%x: tensor<1x32x8x8xf32>) -> tensor<1x32x8x8xf32> {
  %w = nn.constant dense<0.3> : tensor<32x1x3x3xf32>
  %0 = nn.conv2d %x, %w {groups = 32 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x32x8x8xf32>, tensor<32x1x3x3xf32>) -> tensor<1x32x8x8xf32>
  return %0 : tensor<1x32x8x8xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x32x8x8xf32>) -> tensor<1x32x8x8xf32> attributes {optc.stage = "fuse"} {
//     %0 = nn.constant dense<3.000000e-01> : tensor<32x1x3x3xf32>
//     %1 = nn.transpose %arg0 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x32x8x8xf32>) -> tensor<1x8x8x32xf32>
//     %2 = nn.conv2d %1, %0 {groups = 32 : i64, layout = "NHWC", pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x8x32xf32>, tensor<32x1x3x3xf32>) -> tensor<1x8x8x32xf32>
//     %3 = nn.transpose %2 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x8x8x32xf32>) -> tensor<1x32x8x8xf32>
//     return %3 : tensor<1x32x8x8xf32>
//   }
// }
