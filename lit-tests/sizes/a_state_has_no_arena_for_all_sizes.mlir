// RUN: optc plan --dim 'N<=100' --threads=1
// A function with state has pools beside the arena, for which no bound over all sizes is computed. The output
// says so.

func.func @main(%x: tensor<?x8xi32, #optc.dims<N>> {optc.name = "x"}, %s: tensor<8xi32> {optc.name = "s", optc.state = 0 : i64}) -> (tensor<8xi32>, tensor<?x8xi32, #optc.dims<N>>) {
  %0 = nn.cum_sum %x {axis = 0} : tensor<?x8xi32, #optc.dims<N>>
  %1 = nn.reduce_sum %0 {axes = array<i64: 0>} : (tensor<?x8xi32, #optc.dims<N>>) -> tensor<8xi32>
  %2 = nn.add %1, %s : tensor<8xi32>
  %3 = nn.add %0, %2 : (tensor<?x8xi32, #optc.dims<N>>, tensor<8xi32>) -> tensor<?x8xi32, #optc.dims<N>>
  return %2, %3 : tensor<8xi32>, tensor<?x8xi32, #optc.dims<N>>
}
// ----- output
// sizes 1 <= N <= 100: offsets are found at each size; `--dim N=4` plans for one
// at N = 100: arena 32 bytes
// the arena grows with the sizes: it has pools beside the arena
