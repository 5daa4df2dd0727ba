// RUN: optc --passes='simplify{rounds=1}'
// With `rounds=1` laws are applied once, so SiLU, which needs two steps, is not found: the option bounds
// time.

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %one = nn.constant dense<1.0> : tensor<4xf32>
  %0 = nn.neg %x : tensor<4xf32>
  %1 = nn.exp %0 : tensor<4xf32>
  %2 = nn.add %1, %one : tensor<4xf32>
  %3 = nn.reciprocal %2 : tensor<4xf32>
  %4 = nn.mul %x, %3 : tensor<4xf32>
  return %4 : tensor<4xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> attributes {optc.stage = "simplify"} {
//     %0 = nn.sigmoid %arg0 : tensor<4xf32>
//     %1 = nn.mul %arg0, %0 : tensor<4xf32>
//     return %1 : tensor<4xf32>
//   }
// }
