// RUN: optc --passes=inplace --remarks=inplace
// A slice lies inside its root and cannot lie inside the concatenation as well, so it is copied.

func.func @main(%x: tensor<2x3xf32>) -> tensor<1x6xf32> {
  %0 = nn.neg %x : tensor<2x3xf32>
  %1 = nn.slice %0 {starts = array<i64: 1, 0>, sizes = array<i64: 1, 3>} : (tensor<2x3xf32>) -> tensor<1x3xf32>
  %2 = nn.abs %1 : tensor<1x3xf32>
  %3 = nn.concat %1, %2 {axis = 1 : i64} : (tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<1x6xf32>
  return %3 : tensor<1x6xf32>
}
// ----- output
// remark: operand 0 is copied to its place in the result: it is a part of a larger value
//  --> a_part_of_a_larger_value_is_copied_into_a_concatenation.mlir:8:8
//   |
// 8 |   %3 = nn.concat %1, %2 {axis = 1 : i64} : (tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<1x6xf32>
//   |        ^^^^^^^^^
// remark: result 0, which has its place in a concatenation, does not overwrite operand 0: it is not a whole value of as many bytes
//  --> a_part_of_a_larger_value_is_copied_into_a_concatenation.mlir:7:8
//   |
// 7 |   %2 = nn.abs %1 : tensor<1x3xf32>
//   |        ^^^^^^
// remark: result 0 does not overwrite operand 0: it is an input that the caller keeps
//  --> a_part_of_a_larger_value_is_copied_into_a_concatenation.mlir:5:8
//   |
// 5 |   %0 = nn.neg %x : tensor<2x3xf32>
//   |        ^^^^^^
// module {
//   func.func @main(%arg0: tensor<2x3xf32>) -> tensor<1x6xf32> attributes {optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.neg %arg0 {mem.kernel = "pointwise"} : tensor<2x3xf32>
//     %1 = nn.slice %0 {mem.kernel = "copy", sizes = array<i64: 1, 3>, starts = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<1x3xf32>
//     %2 = nn.abs %1 {mem.kernel = "pointwise"} : tensor<1x3xf32>
//     %3 = nn.concat %1, %2 {axis = 1 : i64, mem.kernel = "copy", mem.parts = array<i64: 1>} : (tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<1x6xf32>
//     return %3 : tensor<1x6xf32>
//   }
// }
