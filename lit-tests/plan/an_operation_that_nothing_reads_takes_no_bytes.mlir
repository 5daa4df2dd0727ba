// RUN: optc --passes=plan
// The unread tanh is removed before planning, so it takes neither a buffer nor scratch.

func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.exp %arg0 : tensor<4xf32>
  %1 = nn.tanh %0 : tensor<4xf32>
  %2 = nn.neg %0 : tensor<4xf32>
  return %2 : tensor<4xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> attributes {optc.arena = 16 : i64, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.exp %arg0 {mem.kernel = "pointwise", mem.place = [["arena", 0, 16]]} : tensor<4xf32>
//     %1 = nn.neg %0 {mem.kernel = "pointwise", mem.place = [["out", 0, 16]]} : tensor<4xf32>
//     return %1 : tensor<4xf32>
//   }
// }
