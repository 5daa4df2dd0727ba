// RUN: optc --passes=inplace --remarks=inplace
// The concatenation has rows of 2 elements and the producer writes rows of 4, so no row pitch describes where
// its rows go.

func.func @main(%x: tensor<3x4xf32>) -> tensor<6x4xf32> {
  %0 = nn.neg %x : tensor<3x4xf32>
  %1 = nn.reshape %0 {shape = array<i64: 6, 2>} : (tensor<3x4xf32>) -> tensor<6x2xf32>
  %2 = nn.abs %1 : tensor<6x2xf32>
  %3 = nn.concat %1, %2 {axis = 1 : i64} : (tensor<6x2xf32>, tensor<6x2xf32>) -> tensor<6x4xf32>
  return %3 : tensor<6x4xf32>
}
// ----- output
// remark: operand 0 is copied to its place in the result: a row of it ends inside an axis
//  --> a_row_that_ends_inside_an_axis_is_copied.mlir:9:8
//   |
// 9 |   %3 = nn.concat %1, %2 {axis = 1 : i64} : (tensor<6x2xf32>, tensor<6x2xf32>) -> tensor<6x4xf32>
//   |        ^^^^^^^^^
// remark: result 0, which has its place in a concatenation, does not overwrite operand 0: its bytes are read later
//  --> a_row_that_ends_inside_an_axis_is_copied.mlir:8:8
//   |
// 8 |   %2 = nn.abs %1 : tensor<6x2xf32>
//   |        ^^^^^^
//   |
//   = note: a_row_that_ends_inside_an_axis_is_copied.mlir:9:8: it is read here
// remark: result 0 does not overwrite operand 0: it is an input that the caller keeps
//  --> a_row_that_ends_inside_an_axis_is_copied.mlir:6:8
//   |
// 6 |   %0 = nn.neg %x : tensor<3x4xf32>
//   |        ^^^^^^
// module {
//   func.func @main(%arg0: tensor<3x4xf32>) -> tensor<6x4xf32> attributes {optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.neg %arg0 {mem.kernel = "pointwise"} : tensor<3x4xf32>
//     %1 = nn.reshape %0 {mem.kernel = "copy", shape = array<i64: 6, 2>} : (tensor<3x4xf32>) -> tensor<6x2xf32>
//     %2 = nn.abs %1 {mem.kernel = "pointwise", mem.pitch = array<i64: 8, 16>} : tensor<6x2xf32>
//     %3 = nn.concat %1, %2 {axis = 1 : i64, mem.kernel = "copy", mem.parts = array<i64: 1>} : (tensor<6x2xf32>, tensor<6x2xf32>) -> tensor<6x4xf32>
//     return %3 : tensor<6x4xf32>
//   }
// }
