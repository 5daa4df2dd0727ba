// RUN: optc --passes=plan
// Both returns copy into one output. What the second one copies must not lie there, though the first return
// alone would allow it.

func.func @main(%c: i1, %x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = nn.sqrt %x : tensor<64xf32>
  cf.cond_br %c, ^a, ^b
^a:
  return %x : tensor<64xf32>
^b:
  return %0 : tensor<64xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: i1, %arg1: tensor<64xf32>) -> tensor<64xf32> attributes {optc.arena = 256 : i64, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.sqrt %arg1 {mem.kernel = "pointwise", mem.place = [["arena", 0, 256]]} : tensor<64xf32>
//     cf.cond_br %arg0, ^bb1, ^bb2
//   ^bb1:  // pred: ^bb0
//     %1 = optc.copy %arg1 {mem.place = [["out", 0, 256]]} : tensor<64xf32>
//     return %1 : tensor<64xf32>
//   ^bb2:  // pred: ^bb0
//     %2 = optc.copy %0 {mem.place = [["out", 0, 256]]} : tensor<64xf32>
//     return %2 : tensor<64xf32>
//   }
// }
