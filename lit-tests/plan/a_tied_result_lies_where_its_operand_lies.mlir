// RUN: optc --passes=inplace,plan
// A result with `mem.tie` has its operand's offset; the larger product is written to the output directly.

func.func @main(%arg0: tensor<4xf32>, %arg1: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = nn.exp %arg0 : tensor<4xf32>
  %1 = nn.tanh %0 : tensor<4xf32>
  %2 = nn.add %1, %arg0 : tensor<4xf32>
  %3 = nn.mul %2, %arg1 : (tensor<4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<4xf32>, %arg1: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {optc.arena = 16 : i64, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.exp %arg0 {mem.kernel = "pointwise", mem.place = [["arena", 0, 16]]} : tensor<4xf32>
//     %1 = nn.tanh %0 {mem.kernel = "pointwise", mem.place = [["arena", 0, 16]], mem.tie = array<i64: 0>} : tensor<4xf32>
//     %2 = nn.add %1, %arg0 {mem.kernel = "pointwise", mem.place = [["arena", 0, 16]], mem.tie = array<i64: 0>} : tensor<4xf32>
//     %3 = nn.mul %2, %arg1 {mem.kernel = "pointwise", mem.place = [["out", 0, 64]]} : (tensor<4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
//     return %3 : tensor<4x4xf32>
//   }
// }
