// RUN: optc --passes='simplify{laws=sigmoid-spelt-out}'
// The law that finds a sigmoid in `1 / (1 + exp(-x))`.

func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %c = nn.constant dense<1.0> : tensor<f32>
  %0 = nn.neg %x : tensor<2x3xf32>
  %1 = nn.exp %0 : tensor<2x3xf32>
  %2 = nn.add %1, %c : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %3 = nn.reciprocal %2 : tensor<2x3xf32>
  return %3 : tensor<2x3xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> attributes {optc.stage = "simplify"} {
//     %0 = nn.sigmoid %arg0 : tensor<2x3xf32>
//     return %0 : tensor<2x3xf32>
//   }
// }
