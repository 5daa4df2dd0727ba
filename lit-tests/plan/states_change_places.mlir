// RUN: optc --passes=inplace,plan
// Each next state is the other state's old bytes, so one of them passes through the arena. Two direct copies
// would lose one.

func.func @main(%a: tensor<64xf32> {optc.state}, %b: tensor<64xf32> {optc.state}) -> (tensor<64xf32> {optc.state = 1 : i64}, tensor<64xf32> {optc.state = 0 : i64}) {
  return %a, %b : tensor<64xf32>, tensor<64xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<64xf32> {optc.state}, %arg1: tensor<64xf32> {optc.state}) -> (tensor<64xf32> {optc.state = 1 : i64}, tensor<64xf32> {optc.state = 0 : i64}) attributes {optc.arena = 768 : i64, optc.pools = {arena = {align = 64 : i64, bytes = 256 : i64, start = 0 : i64}, state = {align = 64 : i64, bytes = 512 : i64, start = 256 : i64}}, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = optc.copy %arg1 {mem.place = [["arena", 0, 256]]} : tensor<64xf32>
//     %1 = optc.copy %arg0 {mem.place = [["state", 256, 256]]} : tensor<64xf32>
//     %2 = optc.copy %0 {mem.place = [["state", 0, 256]]} : tensor<64xf32>
//     return %1, %2 : tensor<64xf32>, tensor<64xf32>
//   }
// }
