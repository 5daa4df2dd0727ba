// RUN: optc --passes=simplify
// The convolution's own result is returned too. Folding the norm into it would compute the convolution twice.

func.func @main(%x: tensor<1x2x4x4xf32>) -> (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) {
  %w = nn.constant dense<0.5> : tensor<2x2x1x1xf32>
  %s = nn.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = nn.constant dense<[0.5, -1.0]> : tensor<2xf32>
  %m = nn.constant dense<[0.25, 0.75]> : tensor<2xf32>
  %v = nn.constant dense<[1.0, 4.0]> : tensor<2xf32>
  %0 = nn.conv2d %x, %w : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %1 = nn.batch_norm %0, %s, %b, %m, %v : (tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
  return %0, %1 : tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x2x4x4xf32>) -> (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) attributes {optc.stage = "simplify"} {
//     %0 = nn.constant dense<5.000000e-01> : tensor<2x2x1x1xf32>
//     %1 = nn.conv2d %arg0, %0 : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
//     %2 = nn.constant dense<[[[0.999994993]], [[0.999998807]]]> : tensor<2x1x1xf32>
//     %3 = nn.mul %1, %2 : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
//     %4 = nn.constant dense<[[[0.250001252]], [[-1.74999905]]]> : tensor<2x1x1xf32>
//     %5 = nn.add %3, %4 : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
//     return %1, %5 : tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>
//   }
// }
