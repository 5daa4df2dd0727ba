// RUN: optc --passes=plan
// A value that depends only on constants is computed at compile time, so it takes no arena bytes.

func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.constant dense<1.0> : tensor<4xf32>
  %1 = nn.constant dense<2.0> : tensor<4xf32>
  %2 = nn.mul %0, %1 : tensor<4xf32>
  %3 = nn.add %arg0, %2 : tensor<4xf32>
  %4 = nn.neg %3 : tensor<4xf32>
  return %4 : tensor<4xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> attributes {optc.arena = 16 : i64, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.constant dense<1.000000e+00> : tensor<4xf32>
//     %1 = nn.constant dense<2.000000e+00> : tensor<4xf32>
//     %2 = nn.mul %0, %1 : tensor<4xf32>
//     %3 = nn.add %arg0, %2 {mem.kernel = "pointwise", mem.place = [["arena", 0, 16]]} : tensor<4xf32>
//     %4 = nn.neg %3 {mem.kernel = "pointwise", mem.place = [["out", 0, 16]]} : tensor<4xf32>
//     return %4 : tensor<4xf32>
//   }
// }
