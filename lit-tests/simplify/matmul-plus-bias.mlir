// RUN: optc --passes='simplify{laws=matmul-plus-bias}'
// The law that a constant added per column after a matrix product is its bias.

func.func @main(%x: tensor<2x3xf32>) -> tensor<2x4xf32> {
  %w = nn.constant dense<[[-1.25, -1.5, -1.75, -0.5], [1.75, 1.25, 0.5, 1.5], [1.5, 0.75, 0.25, -0.25]]> : tensor<3x4xf32>
  %k = nn.constant dense<[2.0, -1.0, 0.5, 3.0]> : tensor<4xf32>
  %0 = nn.matmul %x, %w : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %1 = nn.add %0, %k : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x4xf32> attributes {optc.stage = "simplify"} {
//     %0 = nn.constant dense<[[-1.250000e+00, -1.500000e+00, -1.750000e+00, -5.000000e-01], [1.750000e+00, 1.250000e+00, 5.000000e-01, 1.500000e+00], [1.500000e+00, 7.500000e-01, 2.500000e-01, -2.500000e-01]]> : tensor<3x4xf32>
//     %1 = nn.constant dense<[2.000000e+00, -1.000000e+00, 5.000000e-01, 3.000000e+00]> : tensor<4xf32>
//     %2 = nn.matmul %arg0, %0, %1 : (tensor<2x3xf32>, tensor<3x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
//     return %2 : tensor<2x4xf32>
//   }
// }
