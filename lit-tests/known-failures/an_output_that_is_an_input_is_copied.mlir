// RUN: optc --passes=plan
// The output has a buffer of its own, so an input that is returned must be copied into it; nothing else would
// write it.

func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  return %arg0 : tensor<4xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> attributes {optc.arena = 0 : i64, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = optc.copy %arg0 {mem.place = [["out", 0, 16]]} : tensor<4xf32>
//     return %0 : tensor<4xf32>
//   }
// }
