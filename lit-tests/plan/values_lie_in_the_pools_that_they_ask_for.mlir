// RUN: optc --passes=inplace,plan
// Each value with `mem.pool` lies in its pool, at that pool's alignment and within its capacity.

func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> attributes {optc.pools = {bank = {align = 1024 : i64, capacity = 4096 : i64}, image = {}}} {
  %0 = nn.sqrt %x {mem.pool = ["image"]} : tensor<64xf32>
  %1 = nn.neg %0 {mem.pool = ["image"]} : tensor<64xf32>
  %2 = nn.abs %1 {mem.pool = ["bank"]} : tensor<64xf32>
  %3 = nn.sqrt %0 {mem.pool = ["bank"]} : tensor<64xf32>
  %4 = nn.add %2, %3 : tensor<64xf32>
  %5 = nn.mul %4, %2 : tensor<64xf32>
  return %5 : tensor<64xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<64xf32>) -> tensor<64xf32> attributes {optc.arena = 1792 : i64, optc.pools = {arena = {align = 64 : i64, bytes = 0 : i64, start = 0 : i64}, bank = {align = 1024 : i64, bytes = 1280 : i64, capacity = 4096 : i64, start = 0 : i64}, image = {align = 64 : i64, bytes = 512 : i64, start = 1280 : i64}}, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.sqrt %arg0 {mem.kernel = "pointwise", mem.place = [["image", 0, 256]], mem.pool = ["image"]} : tensor<64xf32>
//     %1 = nn.neg %0 {mem.kernel = "pointwise", mem.place = [["image", 256, 256]], mem.pool = ["image"]} : tensor<64xf32>
//     %2 = nn.abs %1 {mem.kernel = "pointwise", mem.place = [["bank", 0, 256]], mem.pool = ["bank"]} : tensor<64xf32>
//     %3 = nn.sqrt %0 {mem.kernel = "pointwise", mem.place = [["bank", 1024, 256]], mem.pool = ["bank"]} : tensor<64xf32>
//     %4 = nn.add %2, %3 {mem.kernel = "pointwise", mem.place = [["out", 0, 256]]} : tensor<64xf32>
//     %5 = nn.mul %4, %2 {mem.kernel = "pointwise", mem.place = [["out", 0, 256]], mem.tie = array<i64: 0>} : tensor<64xf32>
//     return %5 : tensor<64xf32>
//   }
// }
