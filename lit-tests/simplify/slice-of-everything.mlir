// RUN: optc --passes='simplify{laws=slice-of-everything}'
// The law that a slice of all elements is the operand.

func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = nn.slice %x {starts = array<i64: 0, 0>, sizes = array<i64: 2, 3>} : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> attributes {optc.stage = "simplify"} {
//     return %arg0 : tensor<2x3xf32>
//   }
// }
