// RUN: optc --passes=inplace,plan
// The next state overwrites the old one where that dies, so no copy is needed at the end of a run.

func.func @main(%x: tensor<64xf32>, %a: tensor<64xf32> {optc.state}, %b: tensor<3xf32> {optc.state}) -> (tensor<64xf32> {optc.state = 1 : i64}, tensor<3xf32>) {
  %0 = nn.add %a, %x : tensor<64xf32>
  %1 = nn.neg %b : tensor<3xf32>
  return %0, %1 : tensor<64xf32>, tensor<3xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<64xf32>, %arg1: tensor<64xf32> {optc.state}, %arg2: tensor<3xf32> {optc.state}) -> (tensor<64xf32> {optc.state = 1 : i64}, tensor<3xf32>) attributes {optc.arena = 268 : i64, optc.pools = {arena = {align = 64 : i64, bytes = 0 : i64, start = 0 : i64}, state = {align = 64 : i64, bytes = 268 : i64, start = 0 : i64}}, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.add %arg1, %arg0 {mem.kernel = "pointwise", mem.place = [["state", 0, 256]], mem.tie = array<i64: 0>} : tensor<64xf32>
//     %1 = nn.neg %arg2 {mem.kernel = "pointwise", mem.place = [["out", 1, 12]]} : tensor<3xf32>
//     return %0, %1 : tensor<64xf32>, tensor<3xf32>
//   }
// }
