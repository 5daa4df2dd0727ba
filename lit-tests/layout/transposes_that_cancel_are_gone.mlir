// RUN: optc --passes=layout
// A transpose and its inverse cancel, also across an elementwise operation between them.

func.func @main(%arg0: tensor<4x2x5xf32>) -> tensor<4x2x5xf32> {
  %0 = nn.transpose %arg0 {permutation = array<i64: 1, 2, 0>} : (tensor<4x2x5xf32>) -> tensor<2x5x4xf32>
  %1 = nn.exp %0 : tensor<2x5x4xf32>
  %2 = nn.transpose %1 {permutation = array<i64: 2, 0, 1>} : (tensor<2x5x4xf32>) -> tensor<4x2x5xf32>
  return %2 : tensor<4x2x5xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<4x2x5xf32>) -> tensor<4x2x5xf32> attributes {optc.stage = "layout"} {
//     %0 = nn.exp %arg0 : tensor<4x2x5xf32>
//     return %0 : tensor<4x2x5xf32>
//   }
// }
