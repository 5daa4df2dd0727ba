// RUN: optc --passes=inplace --remarks=inplace
// The slice is inserted into its own root at another offset. It is copied first, so that the update can
// overwrite its target: 16 bytes instead of 32.

func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = nn.sqrt %x : tensor<8xf32>
  %1 = nn.slice %0 {starts = array<i64: 0>, sizes = array<i64: 4>} : (tensor<8xf32>) -> tensor<4xf32>
  %2 = nn.insert_slice %1, %0 {starts = array<i64: 2>} : (tensor<4xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}
// ----- output
// remark: this part is copied, so that the rest need not be kept: 16 bytes fewer are live
//  --> a_part_that_stands_in_the_way_is_copied.mlir:7:8
//   |
// 7 |   %1 = nn.slice %0 {starts = array<i64: 0>, sizes = array<i64: 4>} : (tensor<8xf32>) -> tensor<4xf32>
//   |        ^^^^^^^^
//   |
//   = note: a_part_that_stands_in_the_way_is_copied.mlir:6:8: it is copied after this
// remark: result 0 does not overwrite operand 0: it is an input that the caller keeps
//  --> a_part_that_stands_in_the_way_is_copied.mlir:6:8
//   |
// 6 |   %0 = nn.sqrt %x : tensor<8xf32>
//   |        ^^^^^^^
// remark: result 0 does not overwrite operand 0: its bytes are read later
//  --> a_part_that_stands_in_the_way_is_copied.mlir:8:8
//   |
// 8 |   %2 = nn.insert_slice %1, %0 {starts = array<i64: 2>} : (tensor<4xf32>, tensor<8xf32>) -> tensor<8xf32>
//   |        ^^^^^^^^^^^^^^^
//   |
//   = note: a_part_that_stands_in_the_way_is_copied.mlir:8:8: it is read here
// module {
//   func.func @main(%arg0: tensor<8xf32>) -> tensor<8xf32> attributes {optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.sqrt %arg0 {mem.kernel = "pointwise"} : tensor<8xf32>
//     %1 = nn.slice %0 {mem.kernel = "copy", sizes = array<i64: 4>, starts = array<i64: 0>} : (tensor<8xf32>) -> tensor<4xf32>
//     %2 = optc.copy %1 : tensor<4xf32>
//     %3 = nn.insert_slice %2, %0 {mem.kernel = "insert_slice", mem.tie = array<i64: 1>, starts = array<i64: 2>} : (tensor<4xf32>, tensor<8xf32>) -> tensor<8xf32>
//     return %3 : tensor<8xf32>
//   }
// }
