// RUN: optc --passes=variants --stop-after=variants:1
// A variant is one change. At M = 1 the transpose needs no copy either, but that would be the second.

func.func @main(%x: tensor<?x?x8xf32, #optc.dims<N, M>>) -> tensor<?x?x8xf32, #optc.dims<M, N>> {
  %0 = nn.transpose %x {permutation = array<i64: 1, 0, 2>} : (tensor<?x?x8xf32, #optc.dims<N, M>>) -> tensor<?x?x8xf32, #optc.dims<M, N>>
  return %0 : tensor<?x?x8xf32, #optc.dims<M, N>>
}
// ----- output
// module {
//   func.func private @main_at_M_1(%arg0: tensor<?x1x8xf32, #optc.dims<N>>) -> tensor<1x?x8xf32, #optc.dims<N>> attributes {optc.guard = {M = 1 : i64}} {
//     %0 = nn.transpose %arg0 {permutation = array<i64: 1, 0, 2>} : (tensor<?x1x8xf32, #optc.dims<N>>) -> tensor<1x?x8xf32, #optc.dims<N>>
//     return %0 : tensor<1x?x8xf32, #optc.dims<N>>
//   }
//   func.func @main(%arg0: tensor<?x?x8xf32, #optc.dims<N, M>>) -> tensor<?x?x8xf32, #optc.dims<M, N>> attributes {optc.variants = [@main_at_M_1]} {
//     %0 = nn.transpose %arg0 {permutation = array<i64: 1, 0, 2>} : (tensor<?x?x8xf32, #optc.dims<N, M>>) -> tensor<?x?x8xf32, #optc.dims<M, N>>
//     return %0 : tensor<?x?x8xf32, #optc.dims<M, N>>
//   }
// }
