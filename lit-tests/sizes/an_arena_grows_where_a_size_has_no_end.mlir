// RUN: optc plan --dim 'n<=20' --threads=1
// Without an upper bound for `m` there is no arena for all sizes. The output names the size that lacks one.

func.func @main(%x: tensor<?x?xi32, #optc.dims<n, m>> {optc.name = "x"}) -> tensor<?x?xi32, #optc.dims<n, m>> {
  %0 = nn.cum_sum %x {axis = 0} : tensor<?x?xi32, #optc.dims<n, m>>
  %1 = nn.cum_sum %0 {axis = 1} : tensor<?x?xi32, #optc.dims<n, m>>
  return %1 : tensor<?x?xi32, #optc.dims<n, m>>
}
// ----- output
// sizes m >= 1, 1 <= n <= 20: offsets are computed for each size; `--dim m=4` plans for one
// at n = 20, m = 128: arena 0 bytes
// the arena grows with the sizes: `m` has no upper bound
