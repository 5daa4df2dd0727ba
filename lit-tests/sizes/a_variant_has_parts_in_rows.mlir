// RUN: optc plan --dim 'N<=64' --threads=1
// A variant whose sizes are all known has parts in place in rows, as the function for all sizes has.

func.func @main(%x: tensor<?x2x1xf32, #optc.dims<N>>, %y: tensor<?x2xf32, #optc.dims<N>>) -> (tensor<?x2x2xf32, #optc.dims<N>>, tensor<2x?xf32, #optc.dims<N>>) {
  %0 = nn.exp %x : tensor<?x2x1xf32, #optc.dims<N>>
  %1 = nn.concat %0, %x {axis = 2 : i64} : (tensor<?x2x1xf32, #optc.dims<N>>, tensor<?x2x1xf32, #optc.dims<N>>) -> tensor<?x2x2xf32, #optc.dims<N>>
  %2 = nn.transpose %y {permutation = array<i64: 1, 0>} : (tensor<?x2xf32, #optc.dims<N>>) -> tensor<2x?xf32, #optc.dims<N>>
  %3 = nn.exp %2 : tensor<2x?xf32, #optc.dims<N>>
  return %1, %3 : tensor<?x2x2xf32, #optc.dims<N>>, tensor<2x?xf32, #optc.dims<N>>
}
// ----- output
// sizes 1 <= N <= 64: offsets are computed for each size; `--dim N=4` plans for one
// buffer 0: 8 * N bytes, steps 2 to 3; %2 of `nn.exp`
// where N = 1: `main_at_N_1` runs, 3 steps in place of 4
// at N = 64: arena 512 bytes
// at all sizes: arena 512 bytes, the joint maximum
