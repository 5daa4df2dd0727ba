// RUN: optc --passes='simplify{laws=one-over}'
// The law `1 / x = reciprocal(x)`.

func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %c = nn.constant dense<1.0> : tensor<f32>
  %0 = nn.div %c, %x : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> attributes {optc.stage = "simplify"} {
//     %0 = nn.reciprocal %arg0 : tensor<2x3xf32>
//     return %0 : tensor<2x3xf32>
//   }
// }
