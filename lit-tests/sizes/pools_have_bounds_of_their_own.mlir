// RUN: optc plan --dim 'N<=100' --threads=1
// What asks for a pool lies in it at all sizes. Each pool has a bound of its own, and begins where the one before
// it ends at the sizes of a run.

func.func @main(%x: tensor<?x8xf32, #optc.dims<N>>) -> tensor<?x8xf32, #optc.dims<N>> attributes {optc.pools = {bank = {align = 1024 : i64, capacity = 65536 : i64}}} {
  %0 = nn.cum_sum %x {axis = 0, mem.pool = ["bank"]} : tensor<?x8xf32, #optc.dims<N>>
  %1 = nn.cum_sum %0 {axis = 1} : tensor<?x8xf32, #optc.dims<N>>
  %2 = nn.cum_sum %1 {axis = 0, mem.pool = ["bank"]} : tensor<?x8xf32, #optc.dims<N>>
  %3 = nn.cum_sum %2 {axis = 1} : tensor<?x8xf32, #optc.dims<N>>
  %4 = nn.mul %3, %1 : tensor<?x8xf32, #optc.dims<N>>
  return %4 : tensor<?x8xf32, #optc.dims<N>>
}
// ----- output
// sizes 1 <= N <= 100: offsets are computed for each size; `--dim N=4` plans for one
// buffer 0: 32 * N bytes, steps 1 to 4; %1 of `nn.cum_sum`
// buffer 1: 32 * N bytes in `bank`, steps 0 to 1; %0 of `nn.cum_sum`
// buffer 2: 32 * N bytes in `bank`, steps 2 to 3; %2 of `nn.cum_sum`
// at N = 100: arena and pools 7296 bytes
// at all sizes: arena 3200 bytes, the joint maximum
// at all sizes: pool `bank` 3200 bytes, the joint maximum
