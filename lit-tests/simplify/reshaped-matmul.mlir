// RUN: optc --passes='simplify{laws=reshaped-matmul+reshape-of-reshape+reshape-to-same-shape}'
// The law moves a reshape from a product's result to its left operand, where it meets the one that exporters
// write there. It must not where the reshape takes columns apart, or each batch has its own right matrix.

func.func @main(%x: tensor<2x3x4xf32>, %w: tensor<4x10xf32>) -> tensor<2x3x10xf32> {
  %0 = nn.reshape %x {shape = array<i64: 6, 4>} : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  %1 = nn.matmul %0, %w : (tensor<6x4xf32>, tensor<4x10xf32>) -> tensor<6x10xf32>
  %2 = nn.reshape %1 {shape = array<i64: 2, 3, 10>} : (tensor<6x10xf32>) -> tensor<2x3x10xf32>
  return %2 : tensor<2x3x10xf32>
}
func.func @columns_are_taken_apart(%x: tensor<2x3x4xf32>, %w: tensor<4x10xf32>) -> tensor<6x2x5xf32> {
  %0 = nn.reshape %x {shape = array<i64: 6, 4>} : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  %1 = nn.matmul %0, %w : (tensor<6x4xf32>, tensor<4x10xf32>) -> tensor<6x10xf32>
  %2 = nn.reshape %1 {shape = array<i64: 6, 2, 5>} : (tensor<6x10xf32>) -> tensor<6x2x5xf32>
  return %2 : tensor<6x2x5xf32>
}
func.func @a_matrix_for_each_batch(%x: tensor<6x4xf32>, %w: tensor<2x4x10xf32>) -> tensor<6x10xf32> {
  %0 = nn.reshape %x {shape = array<i64: 2, 3, 4>} : (tensor<6x4xf32>) -> tensor<2x3x4xf32>
  %1 = nn.matmul %0, %w : (tensor<2x3x4xf32>, tensor<2x4x10xf32>) -> tensor<2x3x10xf32>
  %2 = nn.reshape %1 {shape = array<i64: 6, 10>} : (tensor<2x3x10xf32>) -> tensor<6x10xf32>
  return %2 : tensor<6x10xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<2x3x4xf32>, %arg1: tensor<4x10xf32>) -> tensor<2x3x10xf32> attributes {optc.stage = "simplify"} {
//     %0 = nn.matmul %arg0, %arg1 : (tensor<2x3x4xf32>, tensor<4x10xf32>) -> tensor<2x3x10xf32>
//     return %0 : tensor<2x3x10xf32>
//   }
//   func.func @columns_are_taken_apart(%arg0: tensor<2x3x4xf32>, %arg1: tensor<4x10xf32>) -> tensor<6x2x5xf32> attributes {optc.stage = "simplify"} {
//     %0 = nn.reshape %arg0 {shape = array<i64: 6, 4>} : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
//     %1 = nn.matmul %0, %arg1 : (tensor<6x4xf32>, tensor<4x10xf32>) -> tensor<6x10xf32>
//     %2 = nn.reshape %1 {shape = array<i64: 6, 2, 5>} : (tensor<6x10xf32>) -> tensor<6x2x5xf32>
//     return %2 : tensor<6x2x5xf32>
//   }
//   func.func @a_matrix_for_each_batch(%arg0: tensor<6x4xf32>, %arg1: tensor<2x4x10xf32>) -> tensor<6x10xf32> attributes {optc.stage = "simplify"} {
//     %0 = nn.reshape %arg0 {shape = array<i64: 2, 3, 4>} : (tensor<6x4xf32>) -> tensor<2x3x4xf32>
//     %1 = nn.matmul %0, %arg1 : (tensor<2x3x4xf32>, tensor<2x4x10xf32>) -> tensor<2x3x10xf32>
//     %2 = nn.reshape %1 {shape = array<i64: 6, 10>} : (tensor<2x3x10xf32>) -> tensor<6x10xf32>
//     return %2 : tensor<6x10xf32>
//   }
// }
