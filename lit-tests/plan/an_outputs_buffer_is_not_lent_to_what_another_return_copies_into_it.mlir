// RUN: optc --passes=plan

// Both returns copy into one buffer; what the second copies must not lie there, though the first would allow it.
func.func @main(%c: i1, %x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = nn.neg %x : tensor<64xf32>
  %1 = nn.sqrt %0 : tensor<64xf32>
  cf.cond_br %c, ^a, ^b
^a:
  %2 = nn.abs %x : tensor<64xf32>
  return %2 : tensor<64xf32>
^b:
  return %1 : tensor<64xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: i1, %arg1: tensor<64xf32>) -> tensor<64xf32> attributes {optc.arena = 512 : i64, optc.stage = "plan", optc.target = "cpu", optc.threads = 1 : i64} {
//     %0 = nn.neg %arg1 {mem.kernel = "pointwise", mem.place = [["out", 0, 256]]} : tensor<64xf32>
//     %1 = nn.sqrt %0 {mem.kernel = "pointwise", mem.place = [["arena", 0, 256]]} : tensor<64xf32>
//     cf.cond_br %arg0, ^bb1, ^bb2
//   ^bb1:  // pred: ^bb0
//     %2 = nn.abs %arg1 {mem.kernel = "pointwise", mem.place = [["arena", 256, 256]]} : tensor<64xf32>
//     %3 = optc.copy %2 {mem.place = [["out", 0, 256]]} : tensor<64xf32>
//     return %3 : tensor<64xf32>
//   ^bb2:  // pred: ^bb0
//     %4 = optc.copy %1 {mem.place = [["out", 0, 256]]} : tensor<64xf32>
//     return %4 : tensor<64xf32>
//   }
// }
