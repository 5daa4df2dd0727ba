// RUN: optc --passes='simplify{laws=concat-of-one}'
// The law that a concatenation of one value is that value.

func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = nn.concat %x {axis = 0 : i64} : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> attributes {optc.stage = "simplify"} {
//     return %arg0 : tensor<2x3xf32>
//   }
// }
