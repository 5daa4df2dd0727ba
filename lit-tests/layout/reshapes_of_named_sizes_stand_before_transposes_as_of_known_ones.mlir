// RUN: optc --passes=layout
// A size by its name is another axis than one of one element, whatever it is at a run.

func.func @main(%x: tensor<?x4x?xf32, #optc.dims<N, L>>) -> tensor<?x?x1x4xf32, #optc.dims<N, L>> {
  %0 = nn.transpose %x {permutation = array<i64: 0, 2, 1>} : (tensor<?x4x?xf32, #optc.dims<N, L>>) -> tensor<?x?x4xf32, #optc.dims<N, L>>
  %1 = nn.reshape %0 {shape = #optc.dims<N, L, 1, 4>} : (tensor<?x?x4xf32, #optc.dims<N, L>>) -> tensor<?x?x1x4xf32, #optc.dims<N, L>>
  %2 = nn.tanh %1 : tensor<?x?x1x4xf32, #optc.dims<N, L>>
  return %2 : tensor<?x?x1x4xf32, #optc.dims<N, L>>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<?x4x?xf32, #optc.dims<N, L>>) -> tensor<?x?x1x4xf32, #optc.dims<N, L>> attributes {optc.stage = "layout"} {
//     %0 = nn.tanh %arg0 : tensor<?x4x?xf32, #optc.dims<N, L>>
//     %1 = nn.reshape %0 {shape = #optc.dims<N, 1, 4, L>} : (tensor<?x4x?xf32, #optc.dims<N, L>>) -> tensor<?x1x4x?xf32, #optc.dims<N, L>>
//     %2 = nn.transpose %1 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<?x1x4x?xf32, #optc.dims<N, L>>) -> tensor<?x?x1x4xf32, #optc.dims<N, L>>
//     return %2 : tensor<?x?x1x4xf32, #optc.dims<N, L>>
//   }
// }
