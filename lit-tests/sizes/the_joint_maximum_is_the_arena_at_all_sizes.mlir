// RUN: optc plan --dim 'n<=20' --dim 'm<=5' --threads=1
// %0 takes 4 * n * m * max(n - m, 1) bytes: 6000 at n = 20 and m = 5. Maximizing each factor alone would give
// 4 * 20 * 5 * 20, which no sizes reach.

func.func @main(%x: tensor<?x?xi32, #optc.dims<n, m>> {optc.name = "x"}) -> tensor<?x?xi32, #optc.dims<n, m>> {
  %0 = nn.broadcast %x {shape = #optc.dims<max(n - m, 1), n, m>} : (tensor<?x?xi32, #optc.dims<n, m>>) -> tensor<?x?x?xi32, #optc.dims<max(n - m, 1), n, m>>
  %1 = nn.cum_sum %0 {axis = 0} : tensor<?x?x?xi32, #optc.dims<max(n - m, 1), n, m>>
  %2 = nn.reduce_sum %1 {axes = array<i64: 0>} : (tensor<?x?x?xi32, #optc.dims<max(n - m, 1), n, m>>) -> tensor<?x?xi32, #optc.dims<n, m>>
  return %2 : tensor<?x?xi32, #optc.dims<n, m>>
}
// ----- output
// sizes 1 <= m <= 5, 1 <= n <= 20: offsets are computed for each size; `--dim m=4` plans for one
// buffer 0: 4 * m * n * max(-m + n, 1) bytes, steps 0 to 2; %0 %1 of `nn.broadcast`
// where n = 1: `main_at_n_1` runs, 2 steps in place of 3
// at n = 20, m = 5: arena 6000 bytes
// at all sizes: arena 6000 bytes, the joint maximum
