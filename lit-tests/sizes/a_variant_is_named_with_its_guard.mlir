// RUN: optc plan --dim 'N<=64' --threads=1
// Where N is 1, the transpose needs no copy: a variant without that step runs there.

func.func @main(%x: tensor<?x4x8xf32, #optc.dims<N>> {optc.name = "x"}) -> tensor<4x?x8xf32, #optc.dims<N>> {
  %0 = nn.exp %x : tensor<?x4x8xf32, #optc.dims<N>>
  %1 = nn.cum_sum %0 {axis = 2} : tensor<?x4x8xf32, #optc.dims<N>>
  %2 = nn.transpose %1 {permutation = array<i64: 1, 0, 2>} : (tensor<?x4x8xf32, #optc.dims<N>>) -> tensor<4x?x8xf32, #optc.dims<N>>
  %3 = nn.cum_sum %2 {axis = 0} : tensor<4x?x8xf32, #optc.dims<N>>
  return %3 : tensor<4x?x8xf32, #optc.dims<N>>
}
// ----- output
// sizes 1 <= N <= 64: offsets are computed for each size; `--dim N=4` plans for one
// buffer 0: 128 * N bytes, steps 0 to 2; %0 %1 of `nn.exp`
// where N = 1: `main_at_N_1` runs, 3 steps in place of 4
// at N = 64: arena 8192 bytes
// at all sizes: arena 8192 bytes, the joint maximum
