// RUN: optc --passes=inplace --remarks=inplace
// Softmax writes its result densely, so it cannot write into a concatenation whose rows are farther apart.

func.func @main(%x: tensor<2x3xf32>) -> tensor<2x6xf32> {
  %0 = nn.softmax %x {axis = 1 : i64} : tensor<2x3xf32>
  %1 = nn.abs %x : tensor<2x3xf32>
  %2 = nn.concat %0, %1 {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
  return %2 : tensor<2x6xf32>
}
// ----- output
// remark: operand 0 is copied to its place in the result: `nn.softmax` does not write it in rows
//  --> a_part_whose_producer_writes_no_rows_is_copied.mlir:7:8
//   |
// 7 |   %2 = nn.concat %0, %1 {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
//   |        ^^^^^^^^^
// remark: result 0, which has its place in a concatenation, does not overwrite operand 0: it is an argument
//  --> a_part_whose_producer_writes_no_rows_is_copied.mlir:6:8
//   |
// 6 |   %1 = nn.abs %x : tensor<2x3xf32>
//   |        ^^^^^^
// remark: result 0 does not overwrite operand 0: it is an input that the caller keeps
//  --> a_part_whose_producer_writes_no_rows_is_copied.mlir:5:8
//   |
// 5 |   %0 = nn.softmax %x {axis = 1 : i64} : tensor<2x3xf32>
//   |        ^^^^^^^^^^
// module {
//   func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x6xf32> attributes {optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.softmax %arg0 {axis = 1 : i64, mem.kernel = "softmax"} : tensor<2x3xf32>
//     %1 = nn.abs %arg0 {mem.kernel = "pointwise", mem.pitch = array<i64: 12, 24>} : tensor<2x3xf32>
//     %2 = nn.concat %0, %1 {axis = 1 : i64, mem.kernel = "copy", mem.parts = array<i64: 1>} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
//     return %2 : tensor<2x6xf32>
//   }
// }
