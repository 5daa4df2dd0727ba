// RUN: optc --passes=inplace
// The caller gives up an input that is marked `optc.donated`, so its bytes may be reused like those of any
// dying value.

// The output has no room for what lies between; where it has, that is built there, and nothing is copied in
// the end.
func.func @main(%arg0: tensor<4xf32> {optc.donated}) -> tensor<1xf32> {
  %0 = nn.exp %arg0 : tensor<4xf32>
  %1 = nn.reduce_max %0 {axes = array<i64: 0>, keepdims} : (tensor<4xf32>) -> tensor<1xf32>
  return %1 : tensor<1xf32>
}

func.func @whole(%arg0: tensor<4xf32> {optc.donated}) -> tensor<4xf32> {
  %0 = nn.exp %arg0 : tensor<4xf32>
  %1 = nn.tanh %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<4xf32> {optc.donated}) -> tensor<1xf32> attributes {optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.exp %arg0 {mem.kernel = "pointwise", mem.tie = array<i64: 0>} : tensor<4xf32>
//     %1 = nn.reduce_max %0 {axes = array<i64: 0>, keepdims, mem.kernel = "reduce"} : (tensor<4xf32>) -> tensor<1xf32>
//     return %1 : tensor<1xf32>
//   }
//   func.func @whole(%arg0: tensor<4xf32> {optc.donated}) -> tensor<4xf32> attributes {optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.exp %arg0 {mem.kernel = "pointwise"} : tensor<4xf32>
//     %1 = nn.tanh %0 {mem.kernel = "pointwise", mem.tie = array<i64: 0>} : tensor<4xf32>
//     return %1 : tensor<4xf32>
//   }
// }
