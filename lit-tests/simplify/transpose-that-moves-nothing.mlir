// RUN: optc --passes='simplify{laws=transpose-that-moves-nothing}'
// The law that a transpose with the identity permutation is the operand.

func.func @main(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %0 = nn.transpose %x {permutation = array<i64: 0, 1, 2>} : tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> attributes {optc.stage = "simplify"} {
//     return %arg0 : tensor<2x3x4xf32>
//   }
// }
