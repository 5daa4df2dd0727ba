// RUN: optc --passes=schedule
// With named sizes the order is chosen by the peak at the nominal sizes.

func.func @main(%x: tensor<?x4x4x8xf32, #optc.dims<N>>) -> tensor<?x1x1x8xf32, #optc.dims<N>> {
  %0 = nn.exp %x : tensor<?x4x4x8xf32, #optc.dims<N>>
  %1 = nn.tanh %0 : tensor<?x4x4x8xf32, #optc.dims<N>>
  %2 = nn.reduce_mean %0 {axes = array<i64: 1, 2>, keepdims} : (tensor<?x4x4x8xf32, #optc.dims<N>>) -> tensor<?x1x1x8xf32, #optc.dims<N>>
  %3 = nn.reduce_max %1 {axes = array<i64: 1, 2>, keepdims} : (tensor<?x4x4x8xf32, #optc.dims<N>>) -> tensor<?x1x1x8xf32, #optc.dims<N>>
  %4 = nn.add %2, %3 : tensor<?x1x1x8xf32, #optc.dims<N>>
  return %4 : tensor<?x1x1x8xf32, #optc.dims<N>>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<?x4x4x8xf32, #optc.dims<N>>) -> tensor<?x1x1x8xf32, #optc.dims<N>> attributes {optc.stage = "schedule", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.exp %arg0 : tensor<?x4x4x8xf32, #optc.dims<N>>
//     %1 = nn.reduce_mean %0 {axes = array<i64: 1, 2>, keepdims} : (tensor<?x4x4x8xf32, #optc.dims<N>>) -> tensor<?x1x1x8xf32, #optc.dims<N>>
//     %2 = nn.tanh %0 : tensor<?x4x4x8xf32, #optc.dims<N>>
//     %3 = nn.reduce_max %2 {axes = array<i64: 1, 2>, keepdims} : (tensor<?x4x4x8xf32, #optc.dims<N>>) -> tensor<?x1x1x8xf32, #optc.dims<N>>
//     %4 = nn.add %1, %3 : tensor<?x1x1x8xf32, #optc.dims<N>>
//     return %4 : tensor<?x1x1x8xf32, #optc.dims<N>>
//   }
// }
