// RUN: optc --passes=plan
// The reader of a view is a reader of its root. Ending the live range at the last direct reader would let %3
// overwrite it.

func.func @main(%arg0: tensor<4xf32>) -> (tensor<4xf32>, tensor<2x2xf32>) {
  %0 = nn.exp %arg0 : tensor<4xf32>
  %1 = nn.reshape %0 {shape = array<i64: 2, 2>} : (tensor<4xf32>) -> tensor<2x2xf32>
  %2 = nn.tanh %arg0 : tensor<4xf32>
  %3 = nn.neg %2 : tensor<4xf32>
  %4 = nn.abs %1 : tensor<2x2xf32>
  return %3, %4 : tensor<4xf32>, tensor<2x2xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<4xf32>) -> (tensor<4xf32>, tensor<2x2xf32>) attributes {optc.arena = 16 : i64, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.exp %arg0 {mem.kernel = "pointwise", mem.place = [["arena", 0, 16]]} : tensor<4xf32>
//     %1 = nn.reshape %0 {mem.kernel = "copy", shape = array<i64: 2, 2>} : (tensor<4xf32>) -> tensor<2x2xf32>
//     %2 = nn.tanh %arg0 {mem.kernel = "pointwise", mem.place = [["out", 1, 16]]} : tensor<4xf32>
//     %3 = nn.neg %2 {mem.kernel = "pointwise", mem.place = [["out", 0, 16]]} : tensor<4xf32>
//     %4 = nn.abs %1 {mem.kernel = "pointwise", mem.place = [["out", 1, 16]]} : tensor<2x2xf32>
//     return %3, %4 : tensor<4xf32>, tensor<2x2xf32>
//   }
// }
