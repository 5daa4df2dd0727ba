// RUN: optc --passes=simplify
// Operations on small constants are computed at compile time.

func.func @main() -> tensor<2xf32> {
  %0 = nn.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %1 = nn.constant dense<3.0> : tensor<f32>
  %2 = nn.mul %0, %1 : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %3 = nn.square %2 : tensor<2xf32>
  return %3 : tensor<2xf32>
}
// ----- output
// module {
//   func.func @main() -> tensor<2xf32> attributes {optc.stage = "simplify"} {
//     %0 = nn.constant dense<[9.000000e+00, 3.600000e+01]> : tensor<2xf32>
//     return %0 : tensor<2xf32>
//   }
// }
