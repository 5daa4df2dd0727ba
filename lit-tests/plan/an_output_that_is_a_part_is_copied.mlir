// RUN: optc --passes=plan
// The slice lies inside a larger value that does not fit the output's buffer, so it is copied.

func.func @main(%arg0: tensor<4xf32>) -> tensor<2xf32> {
  %0 = nn.exp %arg0 : tensor<4xf32>
  %1 = nn.slice %0 {starts = array<i64: 2>, sizes = array<i64: 2>} : (tensor<4xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<4xf32>) -> tensor<2xf32> attributes {optc.arena = 16 : i64, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.exp %arg0 {mem.kernel = "pointwise", mem.place = [["arena", 0, 16]]} : tensor<4xf32>
//     %1 = nn.slice %0 {mem.kernel = "copy", sizes = array<i64: 2>, starts = array<i64: 2>} : (tensor<4xf32>) -> tensor<2xf32>
//     %2 = optc.copy %1 {mem.place = [["out", 0, 8]]} : tensor<2xf32>
//     return %2 : tensor<2xf32>
//   }
// }
