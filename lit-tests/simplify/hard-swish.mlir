// RUN: optc --passes='simplify{laws=hard-swish}'
// The law that `x` times its hard sigmoid is a hard swish.

func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = nn.hard_sigmoid %x {alpha = 0.166666672 : f32, beta = 0.5 : f32} : tensor<2x3xf32>
  %1 = nn.mul %x, %0 : tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> attributes {optc.stage = "simplify"} {
//     %0 = nn.hard_swish %arg0 : tensor<2x3xf32>
//     return %0 : tensor<2x3xf32>
//   }
// }
