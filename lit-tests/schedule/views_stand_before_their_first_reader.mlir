// RUN: optc --passes=schedule
// A view takes no bytes, so it moves directly before its first reader. The view %1 keeps %0 alive through its
// readers only.

func.func @main(%x: tensor<1x4x4x8xf32>) -> tensor<8xf32> {
  %0 = nn.exp %x : tensor<1x4x4x8xf32>
  %1 = nn.reshape %0 {shape = array<i64: 16, 8>} : (tensor<1x4x4x8xf32>) -> tensor<16x8xf32>
  %2 = nn.tanh %0 : tensor<1x4x4x8xf32>
  %3 = nn.reduce_max %2 {axes = array<i64: 0, 1, 2>} : (tensor<1x4x4x8xf32>) -> tensor<8xf32>
  %4 = nn.reduce_mean %1 {axes = array<i64: 0>} : (tensor<16x8xf32>) -> tensor<8xf32>
  %5 = nn.add %3, %4 : tensor<8xf32>
  return %5 : tensor<8xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x4x4x8xf32>) -> tensor<8xf32> attributes {optc.stage = "schedule", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.exp %arg0 {mem.kernel = "pointwise"} : tensor<1x4x4x8xf32>
//     %1 = nn.reshape %0 {mem.kernel = "copy", shape = array<i64: 16, 8>} : (tensor<1x4x4x8xf32>) -> tensor<16x8xf32>
//     %2 = nn.reduce_mean %1 {axes = array<i64: 0>, mem.kernel = "reduce"} : (tensor<16x8xf32>) -> tensor<8xf32>
//     %3 = nn.tanh %0 {mem.kernel = "pointwise"} : tensor<1x4x4x8xf32>
//     %4 = nn.reduce_max %3 {axes = array<i64: 0, 1, 2>, mem.kernel = "reduce"} : (tensor<1x4x4x8xf32>) -> tensor<8xf32>
//     %5 = nn.add %4, %2 {mem.kernel = "pointwise"} : tensor<8xf32>
//     return %5 : tensor<8xf32>
//   }
// }
