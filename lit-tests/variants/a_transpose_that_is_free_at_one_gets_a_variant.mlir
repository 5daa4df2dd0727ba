// RUN: optc --passes=variants
// At N = 1 the transpose only moves an axis of size 1, which needs no copy. So `main` gets a variant for N = 1.
// At M = 1 it is a copy as at any M.

func.func @main(%x: tensor<?x4x?xf32, #optc.dims<N, M>>) -> tensor<4x?x?xf32, #optc.dims<N, M>> attributes {optc.dims = {M = [1, 512], N = [1, 64]}} {
  %0 = nn.transpose %x {permutation = array<i64: 1, 0, 2>} : (tensor<?x4x?xf32, #optc.dims<N, M>>) -> tensor<4x?x?xf32, #optc.dims<N, M>>
  %1 = nn.exp %0 : tensor<4x?x?xf32, #optc.dims<N, M>>
  return %1 : tensor<4x?x?xf32, #optc.dims<N, M>>
}
// ----- output
// module {
//   func.func private @main_at_N_1(%arg0: tensor<1x4x?xf32, #optc.dims<M>>) -> tensor<4x1x?xf32, #optc.dims<M>> attributes {optc.dims = {M = [1, 512]}, optc.guard = {N = 1 : i64}} {
//     %0 = nn.transpose %arg0 {permutation = array<i64: 1, 0, 2>} : (tensor<1x4x?xf32, #optc.dims<M>>) -> tensor<4x1x?xf32, #optc.dims<M>>
//     %1 = nn.exp %0 : tensor<4x1x?xf32, #optc.dims<M>>
//     return %1 : tensor<4x1x?xf32, #optc.dims<M>>
//   }
//   func.func @main(%arg0: tensor<?x4x?xf32, #optc.dims<N, M>>) -> tensor<4x?x?xf32, #optc.dims<N, M>> attributes {optc.dims = {M = [1, 512], N = [1, 64]}, optc.variants = [@main_at_N_1]} {
//     %0 = nn.transpose %arg0 {permutation = array<i64: 1, 0, 2>} : (tensor<?x4x?xf32, #optc.dims<N, M>>) -> tensor<4x?x?xf32, #optc.dims<N, M>>
//     %1 = nn.exp %0 : tensor<4x?x?xf32, #optc.dims<N, M>>
//     return %1 : tensor<4x?x?xf32, #optc.dims<N, M>>
//   }
// }
