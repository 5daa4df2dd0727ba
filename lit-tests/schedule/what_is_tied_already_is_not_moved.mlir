// RUN: optc --passes=schedule
// Ties hold for the order in which they were proved, so a function that has some is not reordered.

func.func @main(%x: tensor<1x4x4x8xf32>) -> tensor<1x1x1x8xf32> {
  %0 = nn.exp %x : tensor<1x4x4x8xf32>
  %1 = nn.tanh %0 : tensor<1x4x4x8xf32>
  %2 = nn.reduce_mean %0 {axes = array<i64: 1, 2>, keepdims} : (tensor<1x4x4x8xf32>) -> tensor<1x1x1x8xf32>
  %3 = nn.reduce_max %1 {axes = array<i64: 1, 2>, keepdims} : (tensor<1x4x4x8xf32>) -> tensor<1x1x1x8xf32>
  %4 = nn.add %2, %3 {mem.tie = array<i64: 1>} : tensor<1x1x1x8xf32>
  return %4 : tensor<1x1x1x8xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x4x4x8xf32>) -> tensor<1x1x1x8xf32> attributes {optc.stage = "schedule", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.exp %arg0 {mem.kernel = "pointwise"} : tensor<1x4x4x8xf32>
//     %1 = nn.tanh %0 {mem.kernel = "pointwise"} : tensor<1x4x4x8xf32>
//     %2 = nn.reduce_mean %0 {axes = array<i64: 1, 2>, keepdims, mem.kernel = "reduce"} : (tensor<1x4x4x8xf32>) -> tensor<1x1x1x8xf32>
//     %3 = nn.reduce_max %1 {axes = array<i64: 1, 2>, keepdims, mem.kernel = "reduce"} : (tensor<1x4x4x8xf32>) -> tensor<1x1x1x8xf32>
//     %4 = nn.add %2, %3 {mem.kernel = "pointwise", mem.tie = array<i64: 1>} : tensor<1x1x1x8xf32>
//     return %4 : tensor<1x1x1x8xf32>
//   }
// }
