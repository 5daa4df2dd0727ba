// RUN: optc plan --dim 'N<=100' --threads=1
// A state lies in a pool beside the arena, of the same bytes at all sizes. The bound is that of both.

func.func @main(%x: tensor<?x8xi32, #optc.dims<N>> {optc.name = "x"}, %s: tensor<8xi32> {optc.name = "s", optc.state = 0 : i64}) -> (tensor<8xi32>, tensor<?x8xi32, #optc.dims<N>>) {
  %0 = nn.cum_sum %x {axis = 0} : tensor<?x8xi32, #optc.dims<N>>
  %1 = nn.reduce_sum %0 {axes = array<i64: 0>} : (tensor<?x8xi32, #optc.dims<N>>) -> tensor<8xi32>
  %2 = nn.add %1, %s : tensor<8xi32>
  %3 = nn.add %0, %2 : (tensor<?x8xi32, #optc.dims<N>>, tensor<8xi32>) -> tensor<?x8xi32, #optc.dims<N>>
  return %2, %3 : tensor<8xi32>, tensor<?x8xi32, #optc.dims<N>>
}
// ----- output
// sizes 1 <= N <= 100: offsets are computed for each size; `--dim N=4` plans for one
// buffer 0: 32 bytes in `state`, steps 0 to 4; %arg1
// at N = 100: arena and pools 32 bytes
// at all sizes: arena 0 bytes, the joint maximum
// at all sizes: pool `state` 32 bytes, the joint maximum
