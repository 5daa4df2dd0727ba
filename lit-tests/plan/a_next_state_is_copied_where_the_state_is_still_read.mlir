// RUN: optc --passes=inplace,plan
// The old state is read after the next one is made, so the next state is made elsewhere and copied at the
// end.

func.func @main(%x: tensor<64xf32>, %a: tensor<64xf32> {optc.state}) -> (tensor<64xf32> {optc.state = 1 : i64}, tensor<64xf32>) {
  %0 = nn.add %a, %x : tensor<64xf32>
  %1 = nn.mul %0, %a : tensor<64xf32>
  return %0, %1 : tensor<64xf32>, tensor<64xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<64xf32>, %arg1: tensor<64xf32> {optc.state}) -> (tensor<64xf32> {optc.state = 1 : i64}, tensor<64xf32>) attributes {optc.arena = 512 : i64, optc.pools = {arena = {align = 64 : i64, bytes = 256 : i64, start = 0 : i64}, state = {align = 64 : i64, bytes = 256 : i64, start = 256 : i64}}, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.add %arg1, %arg0 {mem.kernel = "pointwise", mem.place = [["arena", 0, 256]]} : tensor<64xf32>
//     %1 = nn.mul %0, %arg1 {mem.kernel = "pointwise", mem.place = [["state", 0, 256]], mem.tie = array<i64: 1>} : tensor<64xf32>
//     %2 = optc.copy %1 {mem.place = [["out", 1, 256]]} : tensor<64xf32>
//     %3 = optc.copy %0 {mem.place = [["state", 0, 256]]} : tensor<64xf32>
//     return %3, %2 : tensor<64xf32>, tensor<64xf32>
//   }
// }
