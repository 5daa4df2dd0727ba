// RUN: optc --passes=inplace
// Both operands are the same value, read at the index that is written, so overwriting it is safe.

func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.exp %arg0 : tensor<4xf32>
  %1 = nn.mul %0, %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> attributes {optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.exp %arg0 {mem.kernel = "pointwise"} : tensor<4xf32>
//     %1 = nn.mul %0, %0 {mem.kernel = "pointwise", mem.tie = array<i64: 0>} : tensor<4xf32>
//     return %1 : tensor<4xf32>
//   }
// }
