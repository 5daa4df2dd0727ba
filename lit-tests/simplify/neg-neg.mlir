// RUN: optc --passes='simplify{laws=neg-neg}'
// The law `-(-x) = x`.

func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = nn.neg %x : tensor<2x3xf32>
  %1 = nn.neg %0 : tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> attributes {optc.stage = "simplify"} {
//     return %arg0 : tensor<2x3xf32>
//   }
// }
