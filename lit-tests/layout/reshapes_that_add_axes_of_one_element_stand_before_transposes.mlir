// RUN: optc --passes=layout
// An axis of one element is added at the start, within and at the end, and another one is dropped. A reshape
// that does more stays where it is, and so does one of what is no transpose.

func.func @main(%x: tensor<4x1x3x5xf32>) -> (tensor<1x5x1x3x4x1xf32>, tensor<15x4xf32>, tensor<4x3x5x1xf32>) {
  %0 = nn.transpose %x {permutation = array<i64: 3, 2, 1, 0>} : (tensor<4x1x3x5xf32>) -> tensor<5x3x1x4xf32>
  %1 = nn.reshape %0 {shape = array<i64: 1, 5, 1, 3, 4, 1>} : (tensor<5x3x1x4xf32>) -> tensor<1x5x1x3x4x1xf32>
  %2 = nn.relu %1 : tensor<1x5x1x3x4x1xf32>
  %3 = nn.reshape %0 {shape = array<i64: 15, 4>} : (tensor<5x3x1x4xf32>) -> tensor<15x4xf32>
  %4 = nn.relu %3 : tensor<15x4xf32>
  %5 = nn.reshape %x {shape = array<i64: 4, 3, 5, 1>} : (tensor<4x1x3x5xf32>) -> tensor<4x3x5x1xf32>
  return %2, %4, %5 : tensor<1x5x1x3x4x1xf32>, tensor<15x4xf32>, tensor<4x3x5x1xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<4x1x3x5xf32>) -> (tensor<1x5x1x3x4x1xf32>, tensor<15x4xf32>, tensor<4x3x5x1xf32>) attributes {optc.stage = "layout"} {
//     %0 = nn.transpose %arg0 {permutation = array<i64: 3, 2, 1, 0>} : (tensor<4x1x3x5xf32>) -> tensor<5x3x1x4xf32>
//     %1 = nn.relu %arg0 : tensor<4x1x3x5xf32>
//     %2 = nn.reshape %1 {shape = array<i64: 1, 4, 1, 1, 3, 5>} : (tensor<4x1x3x5xf32>) -> tensor<1x4x1x1x3x5xf32>
//     %3 = nn.transpose %2 {permutation = array<i64: 0, 5, 3, 4, 1, 2>} : (tensor<1x4x1x1x3x5xf32>) -> tensor<1x5x1x3x4x1xf32>
//     %4 = nn.reshape %0 {shape = array<i64: 15, 4>} : (tensor<5x3x1x4xf32>) -> tensor<15x4xf32>
//     %5 = nn.relu %4 : tensor<15x4xf32>
//     %6 = nn.reshape %arg0 {shape = array<i64: 4, 3, 5, 1>} : (tensor<4x1x3x5xf32>) -> tensor<4x3x5x1xf32>
//     return %3, %5, %6 : tensor<1x5x1x3x4x1xf32>, tensor<15x4xf32>, tensor<4x3x5x1xf32>
//   }
// }
