// RUN: optc --passes=plan
// Intermediates use the output's buffer until the output is written. The first result can; the second, which
// the last step reads, cannot.

func.func @main(%arg0: tensor<64xf32>) -> tensor<64xf32> {
  %0 = nn.neg %arg0 : tensor<64xf32>
  %1 = nn.sqrt %0 : tensor<64xf32>
  %2 = nn.abs %1 : tensor<64xf32>
  return %2 : tensor<64xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<64xf32>) -> tensor<64xf32> attributes {optc.arena = 256 : i64, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.neg %arg0 {mem.kernel = "pointwise", mem.place = [["out", 0, 256]]} : tensor<64xf32>
//     %1 = nn.sqrt %0 {mem.kernel = "pointwise", mem.place = [["arena", 0, 256]]} : tensor<64xf32>
//     %2 = nn.abs %1 {mem.kernel = "pointwise", mem.place = [["out", 0, 256]]} : tensor<64xf32>
//     return %2 : tensor<64xf32>
//   }
// }
