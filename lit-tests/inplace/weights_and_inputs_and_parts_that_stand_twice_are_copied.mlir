// RUN: optc --passes=inplace --remarks=inplace
// The bytes of weights and inputs are elsewhere, and one value cannot be at two places, so these operands are
// copied.

func.func @main(%x: tensor<2x1xf32>) -> tensor<2x5xf32> {
  %w = nn.constant dense<1.0> : tensor<2x1xf32>
  %0 = nn.neg %x : tensor<2x1xf32>
  %1 = nn.concat %x, %w, %0, %0 {axis = 1 : i64} : (tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  %2 = nn.concat %1, %0 {axis = 1 : i64} : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x5xf32>
  return %2 : tensor<2x5xf32>
}
// ----- output
// remark: result 0, which has its place in a concatenation, does not overwrite operand 0: it is an argument
//  --> weights_and_inputs_and_parts_that_stand_twice_are_copied.mlir:7:8
//   |
// 7 |   %0 = nn.neg %x : tensor<2x1xf32>
//   |        ^^^^^^
// remark: operand 0 is copied to its place in the result: it is an argument
//  --> weights_and_inputs_and_parts_that_stand_twice_are_copied.mlir:8:8
//   |
// 8 |   %1 = nn.concat %x, %w, %0, %0 {axis = 1 : i64} : (tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>) -> tensor<2x4...
//   |        ^^^^^^^^^
// remark: operand 1 is copied to its place in the result: it is a weight
//  --> weights_and_inputs_and_parts_that_stand_twice_are_copied.mlir:8:8
//   |
// 8 |   %1 = nn.concat %x, %w, %0, %0 {axis = 1 : i64} : (tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>) -> tensor<2x4...
//   |        ^^^^^^^^^
// remark: operand 2 is copied to its place in the result: it stands there more than once
//  --> weights_and_inputs_and_parts_that_stand_twice_are_copied.mlir:8:8
//   |
// 8 |   %1 = nn.concat %x, %w, %0, %0 {axis = 1 : i64} : (tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>) -> tensor<2x4...
//   |        ^^^^^^^^^
// remark: operand 3 is copied to its place in the result: it stands there more than once
//  --> weights_and_inputs_and_parts_that_stand_twice_are_copied.mlir:8:8
//   |
// 8 |   %1 = nn.concat %x, %w, %0, %0 {axis = 1 : i64} : (tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>) -> tensor<2x4...
//   |        ^^^^^^^^^
// module {
//   func.func @main(%arg0: tensor<2x1xf32>) -> tensor<2x5xf32> attributes {optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.constant dense<1.000000e+00> : tensor<2x1xf32>
//     %1 = nn.neg %arg0 {mem.kernel = "pointwise", mem.pitch = array<i64: 4, 20>} : tensor<2x1xf32>
//     %2 = nn.concat %arg0, %0, %1, %1 {axis = 1 : i64, mem.kernel = "copy", mem.pitch = array<i64: 16, 20>} : (tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
//     %3 = nn.concat %2, %1 {axis = 1 : i64, mem.parts = array<i64: 0, 1>} : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x5xf32>
//     return %3 : tensor<2x5xf32>
//   }
// }
