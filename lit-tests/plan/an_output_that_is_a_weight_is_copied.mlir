// RUN: optc --passes=plan
// A weight has its bytes outside the arena, so returning it takes a copy.

func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.constant dense<1.0> : tensor<4xf32>
  return %0 : tensor<4xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> attributes {optc.arena = 0 : i64, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.constant dense<1.000000e+00> : tensor<4xf32>
//     %1 = optc.copy %0 {mem.place = [["out", 0, 16]]} : tensor<4xf32>
//     return %1 : tensor<4xf32>
//   }
// }
