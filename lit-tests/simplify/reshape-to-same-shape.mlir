// RUN: optc --passes='simplify{laws=reshape-to-same-shape}'
// The law that a reshape to the operand's own shape is the operand.

func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = nn.reshape %x {shape = array<i64: 2, 3>} : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> attributes {optc.stage = "simplify"} {
//     return %arg0 : tensor<2x3xf32>
//   }
// }
