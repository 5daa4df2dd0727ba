// RUN: optc --passes='simplify{laws=div-one}'
// The law `x / 1 = x`.

func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %c = nn.constant dense<1.0> : tensor<f32>
  %0 = nn.div %x, %c : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> attributes {optc.stage = "simplify"} {
//     return %arg0 : tensor<2x3xf32>
//   }
// }
