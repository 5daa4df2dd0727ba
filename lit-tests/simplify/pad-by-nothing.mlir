// RUN: optc --passes='simplify{laws=pad-by-nothing}'
// The law that a padding of width 0 is the operand.

func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = nn.pad %x {low = array<i64: 0, 0>, high = array<i64: 0, 0>} : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> attributes {optc.stage = "simplify"} {
//     return %arg0 : tensor<2x3xf32>
//   }
// }
