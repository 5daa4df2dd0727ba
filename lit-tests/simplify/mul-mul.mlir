// RUN: optc --passes='simplify{laws=mul-mul}'
// The law `(x * a) * b = x * (a * b)` for constants, which are then multiplied at compile time.

func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %a = nn.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %b = nn.constant dense<[[4.0], [5.0]]> : tensor<2x1xf32>
  %0 = nn.mul %x, %a : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %1 = nn.mul %0, %b : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> attributes {optc.stage = "simplify"} {
//     %0 = nn.constant dense<[[4.000000e+00, 8.000000e+00, 1.200000e+01], [5.000000e+00, 1.000000e+01, 1.500000e+01]]> : tensor<2x3xf32>
//     %1 = nn.mul %arg0, %0 : tensor<2x3xf32>
//     return %1 : tensor<2x3xf32>
//   }
// }
