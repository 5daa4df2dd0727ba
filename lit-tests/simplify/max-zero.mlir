// RUN: optc --passes='simplify{laws=max-zero}'
// The law `max(0, x) = relu(x)`: both are NaN where x is.

func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %c = nn.constant dense<0.0> : tensor<f32>
  %0 = nn.max %c, %x : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> attributes {optc.stage = "simplify"} {
//     %0 = nn.relu %arg0 : tensor<2x3xf32>
//     return %0 : tensor<2x3xf32>
//   }
// }
