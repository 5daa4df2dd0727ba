// RUN: optc --passes=inplace
// With named sizes a result overwrites an operand only if both have equal size at every run. N equals N; N
// and M may be equal once and differ at the next run.

func.func @main(%x: tensor<?x4xf32, #optc.dims<N>>, %y: tensor<?x4xf32, #optc.dims<M>>) -> (tensor<?x4xf32, #optc.dims<N>>, tensor<?x4xf32, #optc.dims<M>>) {
  %0 = nn.exp %x : tensor<?x4xf32, #optc.dims<N>>
  %1 = nn.tanh %0 : tensor<?x4xf32, #optc.dims<N>>
  %2 = nn.neg %1 : tensor<?x4xf32, #optc.dims<N>>
  %3 = nn.exp %y : tensor<?x4xf32, #optc.dims<M>>
  %4 = nn.neg %3 : tensor<?x4xf32, #optc.dims<M>>
  return %2, %4 : tensor<?x4xf32, #optc.dims<N>>, tensor<?x4xf32, #optc.dims<M>>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<?x4xf32, #optc.dims<N>>, %arg1: tensor<?x4xf32, #optc.dims<M>>) -> (tensor<?x4xf32, #optc.dims<N>>, tensor<?x4xf32, #optc.dims<M>>) attributes {optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.exp %arg0 : tensor<?x4xf32, #optc.dims<N>>
//     %1 = nn.tanh %0 {mem.tie = array<i64: 0>} : tensor<?x4xf32, #optc.dims<N>>
//     %2 = nn.neg %1 {mem.tie = array<i64: 0>} : tensor<?x4xf32, #optc.dims<N>>
//     %3 = nn.exp %arg1 : tensor<?x4xf32, #optc.dims<M>>
//     %4 = nn.neg %3 {mem.tie = array<i64: 0>} : tensor<?x4xf32, #optc.dims<M>>
//     return %2, %4 : tensor<?x4xf32, #optc.dims<N>>, tensor<?x4xf32, #optc.dims<M>>
//   }
// }
