// RUN: optc --passes=fuse
// A sum joins the convolution that runs last: by then the other one's result exists, and it can be
// accumulated into.

func.func @main(%arg0: tensor<1x4x4x8xf32>, %arg1: tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32> {
  %w = nn.constant dense<0.5> : tensor<8x8x1x1xf32>
  %0 = nn.conv2d %arg0, %w {layout = "NHWC"} : (tensor<1x4x4x8xf32>, tensor<8x8x1x1xf32>) -> tensor<1x4x4x8xf32>
  %1 = nn.conv2d %arg1, %w {layout = "NHWC"} : (tensor<1x4x4x8xf32>, tensor<8x8x1x1xf32>) -> tensor<1x4x4x8xf32>
  %2 = nn.add %0, %1 : tensor<1x4x4x8xf32>
  return %2 : tensor<1x4x4x8xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x4x4x8xf32>, %arg1: tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32> attributes {optc.stage = "fuse"} {
//     %0 = nn.constant dense<5.000000e-01> : tensor<8x8x1x1xf32>
//     %1 = nn.conv2d %arg0, %0 {layout = "NHWC"} : (tensor<1x4x4x8xf32>, tensor<8x8x1x1xf32>) -> tensor<1x4x4x8xf32>
//     %2 = optc.group(%arg2 = %arg1, %arg3 = %0, %arg4 = %1) : (tensor<1x4x4x8xf32>, tensor<8x8x1x1xf32>, tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32> {
//       %3 = nn.conv2d %arg2, %arg3 {layout = "NHWC"} : (tensor<1x4x4x8xf32>, tensor<8x8x1x1xf32>) -> tensor<1x4x4x8xf32>
//       %4 = nn.add %arg4, %3 : tensor<1x4x4x8xf32>
//       optc.yield %4 : tensor<1x4x4x8xf32>
//     }
//     return %2 : tensor<1x4x4x8xf32>
//   }
// }
