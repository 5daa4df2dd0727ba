// RUN: optc --passes='simplify{laws=scaled-matmul-with-bias}'
// The law that a constant factor per column after a matrix product goes into its weights and its bias.

func.func @main(%x: tensor<2x3xf32>) -> tensor<2x4xf32> {
  %w = nn.constant dense<[[-1.25, -1.5, -1.75, -0.5], [1.75, 1.25, 0.5, 1.5], [1.5, 0.75, 0.25, -0.25]]> : tensor<3x4xf32>
  %b = nn.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %k = nn.constant dense<[2.0, -1.0, 0.5, 3.0]> : tensor<4xf32>
  %0 = nn.matmul %x, %w, %b : (tensor<2x3xf32>, tensor<3x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %1 = nn.mul %0, %k : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x4xf32> attributes {optc.stage = "simplify"} {
//     %0 = nn.constant dense<[[-2.500000e+00, 1.500000e+00, -8.750000e-01, -1.500000e+00], [3.500000e+00, -1.250000e+00, 2.500000e-01, 4.500000e+00], [3.000000e+00, -7.500000e-01, 1.250000e-01, -7.500000e-01]]> : tensor<3x4xf32>
//     %1 = nn.constant dense<[2.000000e+00, -2.000000e+00, 1.500000e+00, 1.200000e+01]> : tensor<4xf32>
//     %2 = nn.matmul %arg0, %0, %1 : (tensor<2x3xf32>, tensor<3x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
//     return %2 : tensor<2x4xf32>
//   }
// }
