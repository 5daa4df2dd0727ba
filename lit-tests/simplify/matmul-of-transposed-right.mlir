// RUN: optc --passes='simplify{laws=matmul-of-transposed-right}'
// The law that a transposed right operand becomes a flag of the product, which saves the copy.

func.func @main(%x: tensor<2x3xf32>, %y: tensor<4x3xf32>) -> tensor<2x4xf32> {
  %0 = nn.transpose %y {permutation = array<i64: 1, 0>} : (tensor<4x3xf32>) -> tensor<3x4xf32>
  %1 = nn.matmul %x, %0 : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<2x3xf32>, %arg1: tensor<4x3xf32>) -> tensor<2x4xf32> attributes {optc.stage = "simplify"} {
//     %0 = nn.matmul %arg0, %arg1 {transpose_b} : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
//     return %0 : tensor<2x4xf32>
//   }
// }
