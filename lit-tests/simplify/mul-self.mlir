// RUN: optc --passes='simplify{laws=mul-self}'
// The law `x * x = square(x)`, which reads one operand.

func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = nn.mul %x, %x : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> attributes {optc.stage = "simplify"} {
//     %0 = nn.square %arg0 : tensor<2x3xf32>
//     return %0 : tensor<2x3xf32>
//   }
// }
