// RUN: optc --passes=inplace,plan
// Made in the output, the sum would need no copy, but then the value beside it needs bytes of the arena: fewer
// bytes count more than a copy.

func.func @main(%x: tensor<1024xf32> {optc.donated}) -> tensor<1024xf32> {
  %0 = nn.exp %x : tensor<1024xf32>
  %1 = nn.neg %x : tensor<1024xf32>
  %2 = nn.add %1, %0 : tensor<1024xf32>
  return %2 : tensor<1024xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1024xf32> {optc.donated}) -> tensor<1024xf32> attributes {optc.arena = 0 : i64, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.exp %arg0 {mem.kernel = "pointwise", mem.place = [["out", 0, 4096]]} : tensor<1024xf32>
//     %1 = nn.neg %arg0 {mem.kernel = "pointwise", mem.place = [["in", 0, 4096]], mem.tie = array<i64: 0>} : tensor<1024xf32>
//     %2 = nn.add %1, %0 {mem.kernel = "pointwise", mem.place = [["in", 0, 4096]], mem.tie = array<i64: 0>} : tensor<1024xf32>
//     %3 = optc.copy %2 {mem.place = [["out", 0, 4096]]} : tensor<1024xf32>
//     return %3 : tensor<1024xf32>
//   }
// }
