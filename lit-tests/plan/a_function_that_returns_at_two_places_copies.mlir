// RUN: optc --passes=plan
// Each return copies into the output's buffer, because no single value is the output.

func.func @main(%c: i1, %x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = nn.neg %x : tensor<64xf32>
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  return %0 : tensor<64xf32>
^bb2:
  %1 = nn.abs %0 : tensor<64xf32>
  return %1 : tensor<64xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: i1, %arg1: tensor<64xf32>) -> tensor<64xf32> attributes {optc.arena = 512 : i64, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.neg %arg1 {mem.kernel = "pointwise", mem.place = [["arena", 0, 256]]} : tensor<64xf32>
//     cf.cond_br %arg0, ^bb1, ^bb2
//   ^bb1:  // pred: ^bb0
//     %1 = optc.copy %0 {mem.place = [["out", 0, 256]]} : tensor<64xf32>
//     return %1 : tensor<64xf32>
//   ^bb2:  // pred: ^bb0
//     %2 = nn.abs %0 {mem.kernel = "pointwise", mem.place = [["arena", 256, 256]]} : tensor<64xf32>
//     %3 = optc.copy %2 {mem.place = [["out", 0, 256]]} : tensor<64xf32>
//     return %3 : tensor<64xf32>
//   }
// }
