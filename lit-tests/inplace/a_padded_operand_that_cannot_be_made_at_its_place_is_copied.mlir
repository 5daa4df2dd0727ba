// RUN: optc --passes=inplace --remarks=inplace
// Each `nn.pad` here has another reason why its operand cannot be made inside it: its producer, its readers,
// an argument, a negative padding. The remarks name them.

func.func @main(%x: tensor<2x4xf32>) -> (tensor<2x5xf32>, tensor<2x5xf32>, tensor<2x3xf32>, tensor<2x6xf32>) {
  %0 = nn.softmax %x {axis = 1 : i64} : tensor<2x4xf32>
  %1 = nn.pad %0 {low = array<i64: 0, 1>, high = array<i64: 0, 0>} : (tensor<2x4xf32>) -> tensor<2x5xf32>
  %2 = nn.pad %x {low = array<i64: 0, 1>, high = array<i64: 0, 0>} : (tensor<2x4xf32>) -> tensor<2x5xf32>
  %3 = nn.neg %x : tensor<2x4xf32>
  %4 = nn.pad %3 {low = array<i64: 0, -1>, high = array<i64: 0, 0>} : (tensor<2x4xf32>) -> tensor<2x3xf32>
  %5 = nn.neg %x : tensor<2x4xf32>
  %6 = nn.pad %5 {low = array<i64: 0, 1>, high = array<i64: 0, 1>} : (tensor<2x4xf32>) -> tensor<2x6xf32>
  %7 = nn.repeat %5 {counts = array<i64: 1, 1>} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %8 = nn.reduce_sum %7 {axes = array<i64: 0, 1>} : (tensor<2x4xf32>) -> tensor<f32>
  %9 = nn.mul %6, %8 : (tensor<2x6xf32>, tensor<f32>) -> tensor<2x6xf32>
  return %1, %2, %4, %9 : tensor<2x5xf32>, tensor<2x5xf32>, tensor<2x3xf32>, tensor<2x6xf32>
}
// ----- output
// remark: operand 0 is copied to its place in the result: `nn.repeat` does not read it in rows
//   --> a_padded_operand_that_cannot_be_made_at_its_place_is_copied.mlir:12:8
//    |
// 12 |   %6 = nn.pad %5 {low = array<i64: 0, 1>, high = array<i64: 0, 1>} : (tensor<2x4xf32>) -> tensor<2x6xf32>
//    |        ^^^^^^
// remark: operand 0 is copied to its place in the result: its rows are not known
//   --> a_padded_operand_that_cannot_be_made_at_its_place_is_copied.mlir:10:8
//    |
// 10 |   %4 = nn.pad %3 {low = array<i64: 0, -1>, high = array<i64: 0, 0>} : (tensor<2x4xf32>) -> tensor<2x3xf32>
//    |        ^^^^^^
// remark: operand 0 is copied to its place in the result: it is an argument
//  --> a_padded_operand_that_cannot_be_made_at_its_place_is_copied.mlir:8:8
//   |
// 8 |   %2 = nn.pad %x {low = array<i64: 0, 1>, high = array<i64: 0, 0>} : (tensor<2x4xf32>) -> tensor<2x5xf32>
//   |        ^^^^^^
// remark: operand 0 is copied to its place in the result: `nn.softmax` does not write it in rows
//  --> a_padded_operand_that_cannot_be_made_at_its_place_is_copied.mlir:7:8
//   |
// 7 |   %1 = nn.pad %0 {low = array<i64: 0, 1>, high = array<i64: 0, 0>} : (tensor<2x4xf32>) -> tensor<2x5xf32>
//   |        ^^^^^^
// remark: result 0 does not overwrite operand 0: it is an input that the caller keeps
//  --> a_padded_operand_that_cannot_be_made_at_its_place_is_copied.mlir:6:8
//   |
// 6 |   %0 = nn.softmax %x {axis = 1 : i64} : tensor<2x4xf32>
//   |        ^^^^^^^^^^
// remark: result 0 does not overwrite operand 0: it is an input that the caller keeps
//  --> a_padded_operand_that_cannot_be_made_at_its_place_is_copied.mlir:9:8
//   |
// 9 |   %3 = nn.neg %x : tensor<2x4xf32>
//   |        ^^^^^^
// remark: result 0 does not overwrite operand 0: it is an input that the caller keeps
//   --> a_padded_operand_that_cannot_be_made_at_its_place_is_copied.mlir:11:8
//    |
// 11 |   %5 = nn.neg %x : tensor<2x4xf32>
//    |        ^^^^^^
// module {
//   func.func @main(%arg0: tensor<2x4xf32>) -> (tensor<2x5xf32>, tensor<2x5xf32>, tensor<2x3xf32>, tensor<2x6xf32>) attributes {optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.softmax %arg0 {axis = 1 : i64, mem.kernel = "softmax"} : tensor<2x4xf32>
//     %1 = nn.pad %0 {high = array<i64: 0, 0>, low = array<i64: 0, 1>, mem.kernel = "pad"} : (tensor<2x4xf32>) -> tensor<2x5xf32>
//     %2 = nn.pad %arg0 {high = array<i64: 0, 0>, low = array<i64: 0, 1>, mem.kernel = "pad"} : (tensor<2x4xf32>) -> tensor<2x5xf32>
//     %3 = nn.neg %arg0 {mem.kernel = "pointwise"} : tensor<2x4xf32>
//     %4 = nn.pad %3 {high = array<i64: 0, 0>, low = array<i64: 0, -1>, mem.kernel = "pad"} : (tensor<2x4xf32>) -> tensor<2x3xf32>
//     %5 = nn.neg %arg0 {mem.kernel = "pointwise"} : tensor<2x4xf32>
//     %6 = nn.pad %5 {high = array<i64: 0, 1>, low = array<i64: 0, 1>, mem.kernel = "pad"} : (tensor<2x4xf32>) -> tensor<2x6xf32>
//     %7 = nn.repeat %5 {counts = array<i64: 1, 1>, mem.kernel = "repeat"} : tensor<2x4xf32>
//     %8 = nn.reduce_sum %7 {axes = array<i64: 0, 1>, mem.kernel = "reduce"} : (tensor<2x4xf32>) -> tensor<f32>
//     %9 = nn.mul %6, %8 {mem.kernel = "pointwise", mem.tie = array<i64: 0>} : (tensor<2x6xf32>, tensor<f32>) -> tensor<2x6xf32>
//     return %1, %2, %4, %9 : tensor<2x5xf32>, tensor<2x5xf32>, tensor<2x3xf32>, tensor<2x6xf32>
//   }
// }
