// RUN: optc --passes=inplace,plan
// An intermediate that the output overwrites lies in the output's buffer, so it takes no arena bytes.

func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.exp %arg0 : tensor<4xf32>
  %1 = nn.neg %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> attributes {optc.arena = 0 : i64, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.exp %arg0 {mem.kernel = "pointwise", mem.place = [["out", 0, 16]]} : tensor<4xf32>
//     %1 = nn.neg %0 {mem.kernel = "pointwise", mem.place = [["out", 0, 16]], mem.tie = array<i64: 0>} : tensor<4xf32>
//     return %1 : tensor<4xf32>
//   }
// }
