// RUN: optc plan --dim 'N<=64' --threads=1
// A variant whose sizes are all known has parts in place in rows, as the function for all sizes has.

func.func @main(%x: tensor<?x2x1xf32, #optc.dims<N>>, %y: tensor<?x2xf32, #optc.dims<N>>) -> (tensor<?x2x2xf32, #optc.dims<N>>, tensor<2x?xf32, #optc.dims<N>>) {
  %0 = nn.exp %x : tensor<?x2x1xf32, #optc.dims<N>>
  %1 = nn.concat %0, %x {axis = 2 : i64} : (tensor<?x2x1xf32, #optc.dims<N>>, tensor<?x2x1xf32, #optc.dims<N>>) -> tensor<?x2x2xf32, #optc.dims<N>>
  %2 = nn.transpose %y {permutation = array<i64: 1, 0>} : (tensor<?x2xf32, #optc.dims<N>>) -> tensor<2x?xf32, #optc.dims<N>>
  %3 = nn.exp %2 : tensor<2x?xf32, #optc.dims<N>>
  return %1, %3 : tensor<?x2x2xf32, #optc.dims<N>>, tensor<2x?xf32, #optc.dims<N>>
}
