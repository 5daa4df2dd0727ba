// RUN: optc --passes=plan
// The kernel writes both results, so the unused one needs bytes that nothing else uses in that step.

func.func @main(%x: tensor<16xi32>, %y: tensor<16xi32>) -> tensor<16xi32> {
  %low, %high = arith.mulsi_extended %x, %y : tensor<16xi32>
  %0 = nn.abs %high : tensor<16xi32>
  return %0 : tensor<16xi32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<16xi32>, %arg1: tensor<16xi32>) -> tensor<16xi32> attributes {optc.arena = 64 : i64, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0:2 = arith.mulsi_extended %arg0, %arg1 {mem.place = [["out", 0, 64], ["arena", 0, 64]]} : tensor<16xi32>
//     %1 = nn.abs %0#1 {mem.kernel = "pointwise", mem.place = [["out", 0, 64]]} : tensor<16xi32>
//     return %1 : tensor<16xi32>
//   }
// }
