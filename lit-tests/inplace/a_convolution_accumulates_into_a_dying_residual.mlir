// RUN: optc --passes=fuse,inplace
// The convolution adds into the residual's buffer. This saves a whole feature map in each block of a residual
// network.

func.func @main(%arg0: tensor<1x4x4x8xf32>, %arg1: tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32> {
  %w = nn.constant dense<0.5> : tensor<8x8x1x1xf32>
  %0 = nn.exp %arg1 : tensor<1x4x4x8xf32>
  %1 = nn.conv2d %arg0, %w {layout = "NHWC"} : (tensor<1x4x4x8xf32>, tensor<8x8x1x1xf32>) -> tensor<1x4x4x8xf32>
  %2 = nn.add %1, %0 : tensor<1x4x4x8xf32>
  return %2 : tensor<1x4x4x8xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x4x4x8xf32>, %arg1: tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32> attributes {optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.constant dense<5.000000e-01> : tensor<8x8x1x1xf32>
//     %1 = nn.exp %arg1 {mem.kernel = "pointwise"} : tensor<1x4x4x8xf32>
//     %2 = optc.group(%arg2 = %arg0, %arg3 = %0, %arg4 = %1) {mem.kernel = "conv2d", mem.tie = array<i64: 2>} : (tensor<1x4x4x8xf32>, tensor<8x8x1x1xf32>, tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32> {
//       %3 = nn.conv2d %arg2, %arg3 {layout = "NHWC"} : (tensor<1x4x4x8xf32>, tensor<8x8x1x1xf32>) -> tensor<1x4x4x8xf32>
//       %4 = nn.add %3, %arg4 : tensor<1x4x4x8xf32>
//       optc.yield %4 : tensor<1x4x4x8xf32>
//     }
//     return %2 : tensor<1x4x4x8xf32>
//   }
// }
