// RUN: optc --passes=layout
// Moving an axis of one element moves no byte, so the transpose becomes a reshape, which is a view.

func.func @main(%arg0: tensor<4x1x5xf32>) -> tensor<4x5x1xf32> {
  %0 = nn.transpose %arg0 {permutation = array<i64: 0, 2, 1>} : (tensor<4x1x5xf32>) -> tensor<4x5x1xf32>
  return %0 : tensor<4x5x1xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<4x1x5xf32>) -> tensor<4x5x1xf32> attributes {optc.stage = "layout"} {
//     %0 = nn.reshape %arg0 {shape = array<i64: 4, 5, 1>} : (tensor<4x1x5xf32>) -> tensor<4x5x1xf32>
//     return %0 : tensor<4x5x1xf32>
//   }
// }
