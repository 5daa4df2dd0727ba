// RUN: optc --passes='simplify{laws=broadcast-to-same-shape}'
// The law that a broadcast to the operand's own shape is the operand.

func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = nn.broadcast %x {shape = array<i64: 2, 3>} : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> attributes {optc.stage = "simplify"} {
//     return %arg0 : tensor<2x3xf32>
//   }
// }
