// RUN: optc --passes=inplace --remarks=inplace
// A value that is returned or passed to a region has a place of its own, so it is copied into the
// concatenation.

func.func @main(%n: index, %x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x9xf32>) {
  %0 = nn.neg %x : tensor<2x3xf32>
  %1 = nn.abs %x : tensor<2x3xf32>
  %2 = scf.for %i = %n to %n step %n iter_args(%a = %1) -> (tensor<2x3xf32>) {
    %4 = nn.neg %a : tensor<2x3xf32>
    scf.yield %4 : tensor<2x3xf32>
  }
  %3 = nn.concat %0, %1, %2 {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x9xf32>
  return %0, %3 : tensor<2x3xf32>, tensor<2x9xf32>
}
// ----- output
// remark: operand 0 is copied to its place in the result: `func.return` hands it on
//   --> a_part_that_is_returned_or_handed_on_is_copied.mlir:12:8
//    |
// 12 |   %3 = nn.concat %0, %1, %2 {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x9xf32>
//    |        ^^^^^^^^^
// remark: operand 1 is copied to its place in the result: `scf.for` hands it on
//   --> a_part_that_is_returned_or_handed_on_is_copied.mlir:12:8
//    |
// 12 |   %3 = nn.concat %0, %1, %2 {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x9xf32>
//    |        ^^^^^^^^^
// remark: operand 2 is copied to its place in the result: it is an argument
//   --> a_part_that_is_returned_or_handed_on_is_copied.mlir:12:8
//    |
// 12 |   %3 = nn.concat %0, %1, %2 {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x9xf32>
//    |        ^^^^^^^^^
// remark: result 0 does not overwrite operand 0: it is an input that the caller keeps
//  --> a_part_that_is_returned_or_handed_on_is_copied.mlir:6:8
//   |
// 6 |   %0 = nn.neg %x : tensor<2x3xf32>
//   |        ^^^^^^
// remark: result 0 does not overwrite operand 0: it is an input that the caller keeps
//  --> a_part_that_is_returned_or_handed_on_is_copied.mlir:7:8
//   |
// 7 |   %1 = nn.abs %x : tensor<2x3xf32>
//   |        ^^^^^^
// module {
//   func.func @main(%arg0: index, %arg1: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x9xf32>) attributes {optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.neg %arg1 {mem.kernel = "pointwise"} : tensor<2x3xf32>
//     %1 = nn.abs %arg1 {mem.kernel = "pointwise"} : tensor<2x3xf32>
//     %2 = scf.for %arg2 = %arg0 to %arg0 step %arg0 iter_args(%arg3 = %1) -> (tensor<2x3xf32>) {
//       %4 = nn.neg %arg3 {mem.kernel = "pointwise", mem.tie = array<i64: 0>} : tensor<2x3xf32>
//       scf.yield %4 : tensor<2x3xf32>
//     }
//     %3 = nn.concat %0, %1, %2 {axis = 1 : i64, mem.kernel = "copy"} : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x9xf32>
//     return %0, %3 : tensor<2x3xf32>, tensor<2x9xf32>
//   }
// }
