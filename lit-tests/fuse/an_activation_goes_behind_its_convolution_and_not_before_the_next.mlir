// RUN: optc --passes=fuse
// After a convolution a relu costs nothing. Before the next one it would need a copy of the rows that the
// convolution reads.

func.func @main(%arg0: tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32> {
  %w = nn.constant dense<0.5> : tensor<8x8x1x1xf32>
  %0 = nn.conv2d %arg0, %w {layout = "NHWC"} : (tensor<1x4x4x8xf32>, tensor<8x8x1x1xf32>) -> tensor<1x4x4x8xf32>
  %1 = nn.relu %0 : tensor<1x4x4x8xf32>
  %2 = nn.conv2d %1, %w {layout = "NHWC"} : (tensor<1x4x4x8xf32>, tensor<8x8x1x1xf32>) -> tensor<1x4x4x8xf32>
  return %2 : tensor<1x4x4x8xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32> attributes {optc.stage = "fuse"} {
//     %0 = nn.constant dense<5.000000e-01> : tensor<8x8x1x1xf32>
//     %1 = optc.group(%arg1 = %arg0, %arg2 = %0) : (tensor<1x4x4x8xf32>, tensor<8x8x1x1xf32>) -> tensor<1x4x4x8xf32> {
//       %3 = nn.conv2d %arg1, %arg2 {layout = "NHWC"} : (tensor<1x4x4x8xf32>, tensor<8x8x1x1xf32>) -> tensor<1x4x4x8xf32>
//       %4 = nn.relu %3 : tensor<1x4x4x8xf32>
//       optc.yield %4 : tensor<1x4x4x8xf32>
//     }
//     %2 = nn.conv2d %1, %0 {layout = "NHWC"} : (tensor<1x4x4x8xf32>, tensor<8x8x1x1xf32>) -> tensor<1x4x4x8xf32>
//     return %2 : tensor<1x4x4x8xf32>
//   }
// }
