// RUN: optc --passes=inplace
// The caller gives up an input that is marked `optc.donated`, so its bytes may be reused like those of any
// dying value.

func.func @main(%arg0: tensor<4xf32> {optc.donated}) -> tensor<4xf32> {
  %0 = nn.exp %arg0 : tensor<4xf32>
  %1 = nn.tanh %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<4xf32> {optc.donated}) -> tensor<4xf32> attributes {optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.exp %arg0 {mem.kernel = "pointwise", mem.scratch = 4096 : i64, mem.tie = array<i64: 0>} : tensor<4xf32>
//     %1 = nn.tanh %0 {mem.kernel = "pointwise", mem.scratch = 4096 : i64, mem.tie = array<i64: 0>} : tensor<4xf32>
//     return %1 : tensor<4xf32>
//   }
// }
