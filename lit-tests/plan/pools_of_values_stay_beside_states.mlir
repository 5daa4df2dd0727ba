// RUN: optc --passes=inplace,plan
// States have a pool of their own beside those that values ask for.

func.func @main(%x: tensor<64xf32>, %a: tensor<64xf32> {optc.state}) -> (tensor<64xf32> {optc.state = 1 : i64}, tensor<64xf32>) attributes {optc.pools = {bank = {align = 1024 : i64}}} {
  %0 = nn.add %a, %x : tensor<64xf32>
  %1 = nn.exp %x {mem.pool = ["bank"]} : tensor<64xf32>
  %2 = nn.sqrt %1 {mem.pool = ["bank"]} : tensor<64xf32>
  %3 = nn.add %2, %1 : tensor<64xf32>
  return %0, %3 : tensor<64xf32>, tensor<64xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<64xf32>, %arg1: tensor<64xf32> {optc.state}) -> (tensor<64xf32> {optc.state = 1 : i64}, tensor<64xf32>) attributes {optc.arena = 1536 : i64, optc.pools = {arena = {align = 64 : i64, bytes = 0 : i64, start = 0 : i64}, bank = {align = 1024 : i64, bytes = 1280 : i64, start = 0 : i64}, state = {align = 64 : i64, bytes = 256 : i64, start = 1280 : i64}}, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.add %arg1, %arg0 {mem.kernel = "pointwise", mem.place = [["state", 0, 256]], mem.tie = array<i64: 0>} : tensor<64xf32>
//     %1 = nn.exp %arg0 {mem.kernel = "pointwise", mem.place = [["bank", 0, 256]], mem.pool = ["bank"]} : tensor<64xf32>
//     %2 = nn.sqrt %1 {mem.kernel = "pointwise", mem.place = [["bank", 1024, 256]], mem.pool = ["bank"]} : tensor<64xf32>
//     %3 = nn.add %2, %1 {mem.kernel = "pointwise", mem.place = [["out", 1, 256]]} : tensor<64xf32>
//     return %0, %3 : tensor<64xf32>, tensor<64xf32>
//   }
// }
