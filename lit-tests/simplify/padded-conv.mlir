// RUN: optc --passes='simplify{laws=padded-conv}'
// The law that a zero padding before a convolution becomes its `pads`, which saves the padded copy.

func.func @main(%x: tensor<1x2x2x3xf32>) -> tensor<1x2x2x2xf32> {
  %w = nn.constant dense<[[[[0.5, -1.0, 1.0], [-1.75, -1.5, -1.25], [0.75, -1.75, 2.0]], [[-0.5, -1.75, -1.5], [1.25, 1.25, -1.5], [-0.25, -1.5, 1.25]]], [[[-1.75, -1.25, -0.25], [-1.75, 1.0, -1.75], [-0.25, -1.75, -1.0]], [[0.25, 1.25, -1.0], [-1.25, 0.25, -0.75], [-1.25, -0.5, 0.75]]]]> : tensor<2x2x3x3xf32>
  %p = nn.pad %x {low = array<i64: 0, 0, 1, 0>, high = array<i64: 0, 0, 1, 1>} : (tensor<1x2x2x3xf32>) -> tensor<1x2x4x4xf32>
  %0 = nn.conv2d %p, %w : (tensor<1x2x4x4xf32>, tensor<2x2x3x3xf32>) -> tensor<1x2x2x2xf32>
  return %0 : tensor<1x2x2x2xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x2x2x3xf32>) -> tensor<1x2x2x2xf32> attributes {optc.stage = "simplify"} {
//     %0 = nn.constant dense<[[[[5.000000e-01, -1.000000e+00, 1.000000e+00], [-1.750000e+00, -1.500000e+00, -1.250000e+00], [7.500000e-01, -1.750000e+00, 2.000000e+00]], [[-5.000000e-01, -1.750000e+00, -1.500000e+00], [1.250000e+00, 1.250000e+00, -1.500000e+00], [-2.500000e-01, -1.500000e+00, 1.250000e+00]]], [[[-1.750000e+00, -1.250000e+00, -2.500000e-01], [-1.750000e+00, 1.000000e+00, -1.750000e+00], [-2.500000e-01, -1.750000e+00, -1.000000e+00]], [[2.500000e-01, 1.250000e+00, -1.000000e+00], [-1.250000e+00, 2.500000e-01, -7.500000e-01], [-1.250000e+00, -5.000000e-01, 7.500000e-01]]]]> : tensor<2x2x3x3xf32>
//     %1 = nn.conv2d %arg0, %0 {pads = array<i64: 1, 0, 1, 1>} : (tensor<1x2x2x3xf32>, tensor<2x2x3x3xf32>) -> tensor<1x2x2x2xf32>
//     return %1 : tensor<1x2x2x2xf32>
//   }
// }
