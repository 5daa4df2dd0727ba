// RUN: optc --passes='simplify{laws=add-zero}'
// The law `x + 0 = x`, for numbers: it turns -0.0 into 0.0, which is why `canonicalize` does not have it.

func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %c = nn.constant dense<0.0> : tensor<f32>
  %0 = nn.add %x, %c : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> attributes {optc.stage = "simplify"} {
//     return %arg0 : tensor<2x3xf32>
//   }
// }
