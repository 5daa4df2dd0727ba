// RUN: optc --passes=inplace
// The operand has a later reader, so the result needs its own buffer; the last reader then reuses one.

func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.exp %arg0 : tensor<4xf32>
  %1 = nn.tanh %0 : tensor<4xf32>
  %2 = nn.sub %1, %0 : tensor<4xf32>
  return %2 : tensor<4xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> attributes {optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.exp %arg0 {mem.kernel = "pointwise"} : tensor<4xf32>
//     %1 = nn.tanh %0 {mem.kernel = "pointwise"} : tensor<4xf32>
//     %2 = nn.sub %1, %0 {mem.kernel = "pointwise", mem.tie = array<i64: 0>} : tensor<4xf32>
//     return %2 : tensor<4xf32>
//   }
// }
