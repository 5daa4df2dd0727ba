// RUN: optc plan --dim 'N<=100' --threads=1
// The regions of an `scf.if` share bytes and loop-carried values share a place, at every size as at one.

func.func @main(%c: i1, %x: tensor<?x8xi32, #optc.dims<N>> {optc.name = "x"}) -> tensor<8xi32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %0 = nn.cum_sum %x {axis = 0} : tensor<?x8xi32, #optc.dims<N>>
  %1 = scf.if %c -> (tensor<?x8xi32, #optc.dims<N>>) {
    %2 = nn.cum_sum %0 {axis = 1} : tensor<?x8xi32, #optc.dims<N>>
    %3 = nn.mul %2, %0 : tensor<?x8xi32, #optc.dims<N>>
    scf.yield %3 : tensor<?x8xi32, #optc.dims<N>>
  } else {
    %4 = nn.cum_sum %0 {axis = 0} : tensor<?x8xi32, #optc.dims<N>>
    scf.yield %4 : tensor<?x8xi32, #optc.dims<N>>
  }
  %5 = scf.for %i = %zero to %three step %one iter_args(%a = %1) -> (tensor<?x8xi32, #optc.dims<N>>) {
    %6 = nn.cum_sum %a {axis = 0} : tensor<?x8xi32, #optc.dims<N>>
    scf.yield %6 : tensor<?x8xi32, #optc.dims<N>>
  }
  %7 = nn.reduce_sum %5 {axes = array<i64: 0>} : (tensor<?x8xi32, #optc.dims<N>>) -> tensor<8xi32>
  return %7 : tensor<8xi32>
}
// ----- output
// sizes 1 <= N <= 100: offsets are computed for each size; `--dim N=4` plans for one
// buffer 0: 32 * N bytes, steps 0 to 6; %3 of `nn.cum_sum`
// buffer 1: 32 * N bytes, steps 2 to 14; values without names of `nn.cum_sum`
// buffer 2: 8 bytes, steps 10 to 10; values without names
// at N = 100: arena 6400 bytes
// at all sizes: arena 6400 bytes, the joint maximum
