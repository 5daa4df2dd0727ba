// RUN: optc --passes=fuse
// The sum and the relu are computed in the convolution's own loop, so neither intermediate is stored.

func.func @main(%arg0: tensor<1x4x4x8xf32>, %arg1: tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32> {
  %w = nn.constant dense<0.5> : tensor<8x8x3x3xf32>
  %b = nn.constant dense<0.1> : tensor<8xf32>
  %0 = nn.conv2d %arg0, %w, %b {pads = array<i64: 1, 1, 1, 1>, layout = "NHWC"} : (tensor<1x4x4x8xf32>, tensor<8x8x3x3xf32>, tensor<8xf32>) -> tensor<1x4x4x8xf32>
  %1 = nn.add %0, %arg1 : tensor<1x4x4x8xf32>
  %2 = nn.relu %1 : tensor<1x4x4x8xf32>
  return %2 : tensor<1x4x4x8xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x4x4x8xf32>, %arg1: tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32> attributes {optc.stage = "fuse"} {
//     %0 = nn.constant dense<5.000000e-01> : tensor<8x8x3x3xf32>
//     %1 = nn.constant dense<1.000000e-01> : tensor<8xf32>
//     %2 = optc.group(%arg2 = %arg0, %arg3 = %0, %arg4 = %1, %arg5 = %arg1) : (tensor<1x4x4x8xf32>, tensor<8x8x3x3xf32>, tensor<8xf32>, tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32> {
//       %3 = nn.conv2d %arg2, %arg3, %arg4 {layout = "NHWC", pads = array<i64: 1, 1, 1, 1>} : (tensor<1x4x4x8xf32>, tensor<8x8x3x3xf32>, tensor<8xf32>) -> tensor<1x4x4x8xf32>
//       %4 = nn.add %3, %arg5 : tensor<1x4x4x8xf32>
//       %5 = nn.relu %4 : tensor<1x4x4x8xf32>
//       optc.yield %5 : tensor<1x4x4x8xf32>
//     }
//     return %2 : tensor<1x4x4x8xf32>
//   }
// }
