// RUN: optc --passes='inplace,plan{pools=arena:pitch=64}'
// A pool with `pitch=64` starts every row at a multiple of 64 bytes, as some accelerators demand. Outputs
// stay dense.

func.func @main(%x: tensor<1x5x7x3xf32>) -> tensor<1x5x7x3xf32> {
  %0 = nn.sqrt %x : tensor<1x5x7x3xf32>
  %1 = nn.exp %0 : tensor<1x5x7x3xf32>
  %2 = nn.neg %0 : tensor<1x5x7x3xf32>
  %3 = nn.add %1, %2 : tensor<1x5x7x3xf32>
  return %3 : tensor<1x5x7x3xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x5x7x3xf32>) -> tensor<1x5x7x3xf32> attributes {optc.arena = 640 : i64, optc.pools = {arena = {align = 64 : i64, bytes = 640 : i64, pitch = 64 : i64, start = 0 : i64}}, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.sqrt %arg0 {mem.kernel = "pointwise", mem.pitch = array<i64: 84, 128>, mem.place = [["arena", 0, 420, 0, 84, 128]]} : tensor<1x5x7x3xf32>
//     %1 = nn.exp %0 {mem.kernel = "pointwise", mem.place = [["out", 0, 420]]} : tensor<1x5x7x3xf32>
//     %2 = nn.neg %0 {mem.kernel = "pointwise", mem.pitch = array<i64: 84, 128>, mem.place = [["arena", 0, 420, 0, 84, 128]], mem.tie = array<i64: 0>} : tensor<1x5x7x3xf32>
//     %3 = nn.add %1, %2 {mem.kernel = "pointwise", mem.place = [["out", 0, 420]], mem.tie = array<i64: 0>} : tensor<1x5x7x3xf32>
//     return %3 : tensor<1x5x7x3xf32>
//   }
// }
