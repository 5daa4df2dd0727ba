// RUN: optc --passes=plan
// Two outputs never share a buffer, so a value that is returned twice is made in one and copied to the other.

func.func @main(%arg0: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = nn.exp %arg0 : tensor<4xf32>
  return %0, %0 : tensor<4xf32>, tensor<4xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {optc.arena = 0 : i64, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.exp %arg0 {mem.kernel = "pointwise", mem.place = [["out", 0, 16]]} : tensor<4xf32>
//     %1 = optc.copy %0 {mem.place = [["out", 1, 16]]} : tensor<4xf32>
//     return %0, %1 : tensor<4xf32>, tensor<4xf32>
//   }
// }
