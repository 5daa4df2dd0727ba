// RUN: optc --passes=inplace
// An intermediate that is also an output must keep its bytes. Other planners have reused it because it had no
// later reader inside the graph.

func.func @main(%arg0: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = nn.exp %arg0 : tensor<4xf32>
  %1 = nn.neg %0 : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.exp %arg0 {mem.kernel = "pointwise"} : tensor<4xf32>
//     %1 = nn.neg %0 {mem.kernel = "pointwise"} : tensor<4xf32>
//     return %0, %1 : tensor<4xf32>, tensor<4xf32>
//   }
// }
