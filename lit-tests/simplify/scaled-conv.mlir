// RUN: optc --passes='simplify{laws=scaled-conv}'
// The law that a constant factor per channel after a convolution goes into its weights.

func.func @main(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32> {
  %w = nn.constant dense<[[[[0.5, -1.0, 1.0], [-1.75, -1.5, -1.25], [0.75, -1.75, 2.0]], [[-0.5, -1.75, -1.5], [1.25, 1.25, -1.5], [-0.25, -1.5, 1.25]]], [[[-1.75, -1.25, -0.25], [-1.75, 1.0, -1.75], [-0.25, -1.75, -1.0]], [[0.25, 1.25, -1.0], [-1.25, 0.25, -0.75], [-1.25, -0.5, 0.75]]]]> : tensor<2x2x3x3xf32>
  %k = nn.constant dense<[[[2.0]], [[3.0]]]> : tensor<2x1x1xf32>
  %0 = nn.conv2d %x, %w : (tensor<1x2x4x4xf32>, tensor<2x2x3x3xf32>) -> tensor<1x2x2x2xf32>
  %1 = nn.mul %0, %k : (tensor<1x2x2x2xf32>, tensor<2x1x1xf32>) -> tensor<1x2x2x2xf32>
  return %1 : tensor<1x2x2x2xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32> attributes {optc.stage = "simplify"} {
//     %0 = nn.constant dense<[[[[1.000000e+00, -2.000000e+00, 2.000000e+00], [-3.500000e+00, -3.000000e+00, -2.500000e+00], [1.500000e+00, -3.500000e+00, 4.000000e+00]], [[-1.000000e+00, -3.500000e+00, -3.000000e+00], [2.500000e+00, 2.500000e+00, -3.000000e+00], [-5.000000e-01, -3.000000e+00, 2.500000e+00]]], [[[-5.250000e+00, -3.750000e+00, -7.500000e-01], [-5.250000e+00, 3.000000e+00, -5.250000e+00], [-7.500000e-01, -5.250000e+00, -3.000000e+00]], [[7.500000e-01, 3.750000e+00, -3.000000e+00], [-3.750000e+00, 7.500000e-01, -2.250000e+00], [-3.750000e+00, -1.500000e+00, 2.250000e+00]]]]> : tensor<2x2x3x3xf32>
//     %1 = nn.conv2d %arg0, %0 : (tensor<1x2x4x4xf32>, tensor<2x2x3x3xf32>) -> tensor<1x2x2x2xf32>
//     return %1 : tensor<1x2x2x2xf32>
//   }
// }
