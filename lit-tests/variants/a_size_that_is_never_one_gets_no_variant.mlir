// RUN: optc --passes=variants
// The transpose would need no copy at N = 1, but N is at least 2.

func.func @main(%x: tensor<?x4x8xf32, #optc.dims<N>>) -> tensor<4x?x8xf32, #optc.dims<N>> attributes {optc.dims = {N = [2, 64]}} {
  %0 = nn.transpose %x {permutation = array<i64: 1, 0, 2>} : (tensor<?x4x8xf32, #optc.dims<N>>) -> tensor<4x?x8xf32, #optc.dims<N>>
  return %0 : tensor<4x?x8xf32, #optc.dims<N>>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<?x4x8xf32, #optc.dims<N>>) -> tensor<4x?x8xf32, #optc.dims<N>> attributes {optc.dims = {N = [2, 64]}} {
//     %0 = nn.transpose %arg0 {permutation = array<i64: 1, 0, 2>} : (tensor<?x4x8xf32, #optc.dims<N>>) -> tensor<4x?x8xf32, #optc.dims<N>>
//     return %0 : tensor<4x?x8xf32, #optc.dims<N>>
//   }
// }
