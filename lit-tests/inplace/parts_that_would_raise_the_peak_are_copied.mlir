// RUN: optc --passes=inplace --remarks=inplace
// An in-place operand makes the whole concatenation live from its first operand on. Where that raises the
// peak, operands are copied.

func.func @main(%x: tensor<4xf32>, %y: tensor<1000xf32>) -> (tensor<1xf32>, tensor<1xf32>) {
  %0 = nn.neg %x : tensor<4xf32>
  %1 = nn.abs %y : tensor<1000xf32>
  %2 = nn.neg %1 : tensor<1000xf32>
  %3 = nn.mul %1, %2 : tensor<1000xf32>
  %4 = nn.reduce_sum %3 {axes = array<i64: 0>, keepdims} : (tensor<1000xf32>) -> tensor<1xf32>
  %5 = nn.neg %y : tensor<1000xf32>
  %6 = nn.concat %0, %5 {axis = 0 : i64} : (tensor<4xf32>, tensor<1000xf32>) -> tensor<1004xf32>
  %7 = nn.reduce_sum %6 {axes = array<i64: 0>, keepdims} : (tensor<1004xf32>) -> tensor<1xf32>
  return %4, %7 : tensor<1xf32>, tensor<1xf32>
}
// ----- output
// remark: result 0, which has its place in a concatenation, does not overwrite operand 0: it is an argument
//  --> parts_that_would_raise_the_peak_are_copied.mlir:6:8
//   |
// 6 |   %0 = nn.neg %x : tensor<4xf32>
//   |        ^^^^^^
// remark: result 0, which has its place in a concatenation, does not overwrite operand 0: it is an argument
//   --> parts_that_would_raise_the_peak_are_copied.mlir:11:8
//    |
// 11 |   %5 = nn.neg %y : tensor<1000xf32>
//    |        ^^^^^^
// remark: operand 0 is copied to its place in the result: that would raise the peak of live bytes
//   --> parts_that_would_raise_the_peak_are_copied.mlir:12:8
//    |
// 12 |   %6 = nn.concat %0, %5 {axis = 0 : i64} : (tensor<4xf32>, tensor<1000xf32>) -> tensor<1004xf32>
//    |        ^^^^^^^^^
// remark: operand 1 is copied to its place in the result: that would raise the peak of live bytes
//   --> parts_that_would_raise_the_peak_are_copied.mlir:12:8
//    |
// 12 |   %6 = nn.concat %0, %5 {axis = 0 : i64} : (tensor<4xf32>, tensor<1000xf32>) -> tensor<1004xf32>
//    |        ^^^^^^^^^
// remark: result 0 does not overwrite operand 0: it is an input that the caller keeps
//  --> parts_that_would_raise_the_peak_are_copied.mlir:6:8
//   |
// 6 |   %0 = nn.neg %x : tensor<4xf32>
//   |        ^^^^^^
// remark: result 0 does not overwrite operand 0: it is an input that the caller keeps
//  --> parts_that_would_raise_the_peak_are_copied.mlir:7:8
//   |
// 7 |   %1 = nn.abs %y : tensor<1000xf32>
//   |        ^^^^^^
// remark: result 0 does not overwrite operand 0: its bytes are read later
//  --> parts_that_would_raise_the_peak_are_copied.mlir:8:8
//   |
// 8 |   %2 = nn.neg %1 : tensor<1000xf32>
//   |        ^^^^^^
//   |
//   = note: parts_that_would_raise_the_peak_are_copied.mlir:9:8: it is read here
// remark: result 0 does not overwrite operand 0: it is an input that the caller keeps
//   --> parts_that_would_raise_the_peak_are_copied.mlir:11:8
//    |
// 11 |   %5 = nn.neg %y : tensor<1000xf32>
//    |        ^^^^^^
// module {
//   func.func @main(%arg0: tensor<4xf32>, %arg1: tensor<1000xf32>) -> (tensor<1xf32>, tensor<1xf32>) attributes {optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.neg %arg0 {mem.kernel = "pointwise"} : tensor<4xf32>
//     %1 = nn.abs %arg1 {mem.kernel = "pointwise"} : tensor<1000xf32>
//     %2 = nn.neg %1 {mem.kernel = "pointwise"} : tensor<1000xf32>
//     %3 = nn.mul %1, %2 {mem.kernel = "pointwise", mem.tie = array<i64: 0>} : tensor<1000xf32>
//     %4 = nn.reduce_sum %3 {axes = array<i64: 0>, keepdims, mem.kernel = "reduce"} : (tensor<1000xf32>) -> tensor<1xf32>
//     %5 = nn.neg %arg1 {mem.kernel = "pointwise"} : tensor<1000xf32>
//     %6 = nn.concat %0, %5 {axis = 0 : i64, mem.kernel = "copy"} : (tensor<4xf32>, tensor<1000xf32>) -> tensor<1004xf32>
//     %7 = nn.reduce_sum %6 {axes = array<i64: 0>, keepdims, mem.kernel = "reduce"} : (tensor<1004xf32>) -> tensor<1xf32>
//     return %4, %7 : tensor<1xf32>, tensor<1xf32>
//   }
// }
