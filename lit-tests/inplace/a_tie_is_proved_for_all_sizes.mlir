// RUN: optc --passes=inplace

// The tanh takes as many bytes as the exponential, whatever N is. The two sums are of N and of M rows, which may be equal at one run and
// different at the next: neither overwrites the other, and a size that only has a lower bound is no proof.
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
//   func.func @main(%arg0: tensor<?x4xf32, #optc.dims<N>>, %arg1: tensor<?x4xf32, #optc.dims<M>>) -> (tensor<?x4xf32, #optc.dims<N>>, tensor<?x4xf32, #optc.dims<M>>) attributes {optc.stage = "inplace", optc.target = "cpu", optc.threads = 1 : i64} {
//     %0 = nn.exp %arg0 : tensor<?x4xf32, #optc.dims<N>>
//     %1 = nn.tanh %0 {mem.tie = array<i64: 0>} : tensor<?x4xf32, #optc.dims<N>>
//     %2 = nn.neg %1 {mem.tie = array<i64: 0>} : tensor<?x4xf32, #optc.dims<N>>
//     %3 = nn.exp %arg1 : tensor<?x4xf32, #optc.dims<M>>
//     %4 = nn.neg %3 {mem.tie = array<i64: 0>} : tensor<?x4xf32, #optc.dims<M>>
//     return %2, %4 : tensor<?x4xf32, #optc.dims<N>>, tensor<?x4xf32, #optc.dims<M>>
//   }
// }
