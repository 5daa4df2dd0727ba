// RUN: optc plan --dim 'N<=511' --threads=1
// %0 takes 64 * N bytes and %3, made while %0 is live, takes 64 * (512 - N): together 64 * 512 at every size.
// Adding their maxima would nearly double the arena. The sums of 64 bytes lie in the output, one after the
// other.

func.func @main(%x: tensor<?x16xi32, #optc.dims<N>> {optc.name = "x"}) -> tensor<16xi32> {
  %0 = nn.cum_sum %x {axis = 0} : tensor<?x16xi32, #optc.dims<N>>
  %1 = nn.reduce_sum %0 {axes = array<i64: 0>} : (tensor<?x16xi32, #optc.dims<N>>) -> tensor<16xi32>
  %2 = nn.broadcast %1 {shape = #optc.dims<-N + 512, 16>} : (tensor<16xi32>) -> tensor<?x16xi32, #optc.dims<-N + 512>>
  %3 = nn.cum_sum %2 {axis = 0} : tensor<?x16xi32, #optc.dims<-N + 512>>
  %4 = nn.reduce_sum %3 {axes = array<i64: 0>} : (tensor<?x16xi32, #optc.dims<-N + 512>>) -> tensor<16xi32>
  %5 = nn.add %0, %4 : (tensor<?x16xi32, #optc.dims<N>>, tensor<16xi32>) -> tensor<?x16xi32, #optc.dims<N>>
  %6 = nn.reduce_max %5 {axes = array<i64: 0>} : (tensor<?x16xi32, #optc.dims<N>>) -> tensor<16xi32>
  return %6 : tensor<16xi32>
}
// ----- output
// sizes 1 <= N <= 511: offsets are computed for each size; `--dim N=4` plans for one
// buffer 1: -64 * N + 32768 bytes, steps 2 to 4; %2 %3 of `nn.broadcast`
// buffer 0: 64 * N bytes, steps 0 to 6; %0 %5 of `nn.cum_sum`
// at N = 128: arena 32.8 kB (32768 bytes)
// at all sizes: arena 32.8 kB (32768 bytes), the joint maximum
