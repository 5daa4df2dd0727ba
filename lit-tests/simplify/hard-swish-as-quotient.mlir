// RUN: optc --passes='simplify{laws=hard-swish-as-quotient}'
// The law that finds a hard swish in `x * clip(x + 3, 0, 6) / 6`.

func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %c = nn.constant dense<3.0> : tensor<f32>
  %d = nn.constant dense<6.0> : tensor<f32>
  %0 = nn.add %x, %c : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %1 = nn.clip %0 {lo = 0.0 : f32, hi = 6.0 : f32} : tensor<2x3xf32>
  %2 = nn.mul %x, %1 : tensor<2x3xf32>
  %3 = nn.div %2, %d : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  return %3 : tensor<2x3xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> attributes {optc.stage = "simplify"} {
//     %0 = nn.hard_swish %arg0 : tensor<2x3xf32>
//     return %0 : tensor<2x3xf32>
//   }
// }
