// RUN: optc --passes=inplace --remarks=inplace
// An operand of a concatenation has its place there. It may reuse a dying value if that is put at the same
// place, and no argument, which has bytes elsewhere.

func.func @main(%x: tensor<2x3xf32>) -> tensor<2x6xf32> {
  %0 = nn.abs %x : tensor<2x3xf32>
  %1 = nn.neg %0 : tensor<2x3xf32>
  %2 = nn.abs %x : tensor<2x3xf32>
  %3 = nn.concat %1, %2 {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
  %4 = nn.exp %3 : tensor<2x6xf32>
  return %4 : tensor<2x6xf32>
}
// ----- output
// remark: result 0, which has its place in a concatenation, does not overwrite operand 0: it is an argument
//  --> an_operand_of_a_concatenation_overwrites_what_is_put_at_its_place.mlir:6:8
//   |
// 6 |   %0 = nn.abs %x : tensor<2x3xf32>
//   |        ^^^^^^
// remark: result 0, which has its place in a concatenation, does not overwrite operand 0: it is an argument
//  --> an_operand_of_a_concatenation_overwrites_what_is_put_at_its_place.mlir:8:8
//   |
// 8 |   %2 = nn.abs %x : tensor<2x3xf32>
//   |        ^^^^^^
// module {
//   func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x6xf32> attributes {optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.abs %arg0 {mem.kernel = "pointwise", mem.pitch = array<i64: 12, 24>} : tensor<2x3xf32>
//     %1 = nn.neg %0 {mem.kernel = "pointwise", mem.pitch = array<i64: 12, 24>, mem.tie = array<i64: 0>} : tensor<2x3xf32>
//     %2 = nn.abs %arg0 {mem.kernel = "pointwise", mem.pitch = array<i64: 12, 24>} : tensor<2x3xf32>
//     %3 = nn.concat %1, %2 {axis = 1 : i64, mem.parts = array<i64: 0, 1>} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
//     %4 = nn.exp %3 {mem.kernel = "pointwise", mem.tie = array<i64: 0>} : tensor<2x6xf32>
//     return %4 : tensor<2x6xf32>
//   }
// }
