// RUN: optc --passes='simplify{laws=abs-abs}'
// The law `abs(abs(x)) = abs(x)`.

func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = nn.abs %x : tensor<2x3xf32>
  %1 = nn.abs %0 : tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> attributes {optc.stage = "simplify"} {
//     %0 = nn.abs %arg0 : tensor<2x3xf32>
//     return %0 : tensor<2x3xf32>
//   }
// }
