// RUN: optc --passes=inplace,plan
// The next state lies in the pool that it asks for, and is copied to the state's place at the end.

func.func @main(%x: tensor<64xf32>, %a: tensor<64xf32> {optc.state}) -> (tensor<64xf32> {optc.state = 1 : i64}) attributes {optc.pools = {bank = {align = 1024 : i64}}} {
  %0 = nn.add %a, %x {mem.pool = ["bank"]} : tensor<64xf32>
  return %0 : tensor<64xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<64xf32>, %arg1: tensor<64xf32> {optc.state}) -> (tensor<64xf32> {optc.state = 1 : i64}) attributes {optc.arena = 512 : i64, optc.pools = {arena = {align = 64 : i64, bytes = 0 : i64, start = 0 : i64}, bank = {align = 1024 : i64, bytes = 256 : i64, start = 0 : i64}, state = {align = 64 : i64, bytes = 256 : i64, start = 256 : i64}}, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.add %arg1, %arg0 {mem.kernel = "pointwise", mem.place = [["bank", 0, 256]], mem.pool = ["bank"]} : tensor<64xf32>
//     %1 = optc.copy %0 {mem.place = [["state", 0, 256]]} : tensor<64xf32>
//     return %1 : tensor<64xf32>
//   }
// }
