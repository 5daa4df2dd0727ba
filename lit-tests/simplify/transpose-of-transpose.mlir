// RUN: optc --passes='simplify{laws=transpose-of-transpose}'
// The law that two transposes are one with the composed permutation.

func.func @main(%x: tensor<2x3x4xf32>) -> tensor<3x2x4xf32> {
  %0 = nn.transpose %x {permutation = array<i64: 2, 0, 1>} : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  %1 = nn.transpose %0 {permutation = array<i64: 2, 1, 0>} : (tensor<4x2x3xf32>) -> tensor<3x2x4xf32>
  return %1 : tensor<3x2x4xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<2x3x4xf32>) -> tensor<3x2x4xf32> attributes {optc.stage = "simplify"} {
//     %0 = nn.transpose %arg0 {permutation = array<i64: 1, 0, 2>} : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
//     return %0 : tensor<3x2x4xf32>
//   }
// }
