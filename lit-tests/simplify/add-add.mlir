// RUN: optc --passes='simplify{laws=add-add}'
// The law `(x + a) + b = x + (a + b)` for constants, which are then added at compile time.

func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %a = nn.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %b = nn.constant dense<[[4.0], [5.0]]> : tensor<2x1xf32>
  %0 = nn.add %x, %a : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %1 = nn.add %0, %b : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> attributes {optc.stage = "simplify"} {
//     %0 = nn.constant dense<[[5.000000e+00, 6.000000e+00, 7.000000e+00], [6.000000e+00, 7.000000e+00, 8.000000e+00]]> : tensor<2x3xf32>
//     %1 = nn.add %arg0, %0 : tensor<2x3xf32>
//     return %1 : tensor<2x3xf32>
//   }
// }
