// RUN: optc --passes='simplify{laws=hard-sigmoid}'
// The law that finds a hard sigmoid in `clip(x + 3, 0, 6) / 6`.

func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %c = nn.constant dense<3.0> : tensor<f32>
  %d = nn.constant dense<6.0> : tensor<f32>
  %0 = nn.add %x, %c : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %1 = nn.clip %0 {lo = 0.0 : f32, hi = 6.0 : f32} : tensor<2x3xf32>
  %2 = nn.div %1, %d : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  return %2 : tensor<2x3xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> attributes {optc.stage = "simplify"} {
//     %0 = nn.hard_sigmoid %arg0 {alpha = 0.166666672 : f32, beta = 5.000000e-01 : f32} : tensor<2x3xf32>
//     return %0 : tensor<2x3xf32>
//   }
// }
