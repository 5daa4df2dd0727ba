// RUN: optc --passes=layout
// An image of a sequence and back: what is split or joined stays together. The reshape to %5 joins axes that
// the transpose brought together, so it stays.

func.func @main(%x: tensor<1x12x4xf32>) -> (tensor<1x4x12xf32>, tensor<1x4x12xf32>, tensor<12x4xf32>) {
  %0 = nn.transpose %x {permutation = array<i64: 0, 2, 1>} : (tensor<1x12x4xf32>) -> tensor<1x4x12xf32>
  %1 = nn.reshape %0 {shape = array<i64: 1, 4, 3, 4>} : (tensor<1x4x12xf32>) -> tensor<1x4x3x4xf32>
  %2 = nn.relu %1 : tensor<1x4x3x4xf32>
  %3 = nn.reshape %2 {shape = array<i64: 1, 4, 12>} : (tensor<1x4x3x4xf32>) -> tensor<1x4x12xf32>
  %4 = nn.transpose %1 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x4x3x4xf32>) -> tensor<1x3x4x4xf32>
  %5 = nn.reshape %4 {shape = array<i64: 12, 4>} : (tensor<1x3x4x4xf32>) -> tensor<12x4xf32>
  return %3, %0, %5 : tensor<1x4x12xf32>, tensor<1x4x12xf32>, tensor<12x4xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x12x4xf32>) -> (tensor<1x4x12xf32>, tensor<1x4x12xf32>, tensor<12x4xf32>) attributes {optc.stage = "layout"} {
//     %0 = nn.transpose %arg0 {permutation = array<i64: 0, 2, 1>} : (tensor<1x12x4xf32>) -> tensor<1x4x12xf32>
//     %1 = nn.reshape %arg0 {shape = array<i64: 1, 3, 4, 4>} : (tensor<1x12x4xf32>) -> tensor<1x3x4x4xf32>
//     %2 = nn.relu %1 : tensor<1x3x4x4xf32>
//     %3 = nn.reshape %2 {shape = array<i64: 1, 12, 4>} : (tensor<1x3x4x4xf32>) -> tensor<1x12x4xf32>
//     %4 = nn.transpose %3 {permutation = array<i64: 0, 2, 1>} : (tensor<1x12x4xf32>) -> tensor<1x4x12xf32>
//     %5 = nn.transpose %1 {permutation = array<i64: 0, 1, 3, 2>} : tensor<1x3x4x4xf32>
//     %6 = nn.reshape %5 {shape = array<i64: 12, 4>} : (tensor<1x3x4x4xf32>) -> tensor<12x4xf32>
//     return %4, %0, %6 : tensor<1x4x12xf32>, tensor<1x4x12xf32>, tensor<12x4xf32>
//   }
// }
