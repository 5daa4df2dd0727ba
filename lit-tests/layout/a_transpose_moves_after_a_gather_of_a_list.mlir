// RUN: optc --passes=layout
// The axis of a list of indices takes the place of the axis that is picked from, so it moves with it. Indices
// of two axes add one, and the transpose stays.

func.func @main(%x: tensor<2x3x4xf32>, %i: tensor<2xi64>, %j: tensor<2x1xi64>) -> (tensor<2x4x2xf32>, tensor<2x4x2x1xf32>) {
  %0 = nn.transpose %x {permutation = array<i64: 0, 2, 1>} : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32>
  %1 = nn.gather %0, %i {axis = 2 : i64} : (tensor<2x4x3xf32>, tensor<2xi64>) -> tensor<2x4x2xf32>
  %2 = nn.relu %1 : tensor<2x4x2xf32>
  %3 = nn.gather %0, %j {axis = 2 : i64} : (tensor<2x4x3xf32>, tensor<2x1xi64>) -> tensor<2x4x2x1xf32>
  return %2, %3 : tensor<2x4x2xf32>, tensor<2x4x2x1xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2xi64>, %arg2: tensor<2x1xi64>) -> (tensor<2x4x2xf32>, tensor<2x4x2x1xf32>) attributes {optc.stage = "layout"} {
//     %0 = nn.transpose %arg0 {permutation = array<i64: 0, 2, 1>} : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32>
//     %1 = nn.gather %arg0, %arg1 {axis = 1 : i64} : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<2x2x4xf32>
//     %2 = nn.relu %1 : tensor<2x2x4xf32>
//     %3 = nn.transpose %2 {permutation = array<i64: 0, 2, 1>} : (tensor<2x2x4xf32>) -> tensor<2x4x2xf32>
//     %4 = nn.gather %0, %arg2 {axis = 2 : i64} : (tensor<2x4x3xf32>, tensor<2x1xi64>) -> tensor<2x4x2x1xf32>
//     return %3, %4 : tensor<2x4x2xf32>, tensor<2x4x2x1xf32>
//   }
// }
