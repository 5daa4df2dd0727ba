// RUN: optc --passes='simplify{laws=gelu-tanh-of-factor}'
// The law that finds the tanh form of GELU where x is taken out of the sum, as fast variants write it.

func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %k = nn.constant dense<0.044715> : tensor<f32>
  %r = nn.constant dense<0.797884583> : tensor<f32>
  %h = nn.constant dense<0.5> : tensor<f32>
  %o = nn.constant dense<1.0> : tensor<f32>
  %0 = nn.mul %x, %k : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %1 = nn.mul %0, %x : tensor<2x3xf32>
  %2 = nn.add %1, %o : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %3 = nn.mul %x, %r : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %4 = nn.mul %3, %2 : tensor<2x3xf32>
  %5 = nn.tanh %4 : tensor<2x3xf32>
  %6 = nn.add %5, %o : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %7 = nn.mul %x, %h : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %8 = nn.mul %7, %6 : tensor<2x3xf32>
  return %8 : tensor<2x3xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> attributes {optc.stage = "simplify"} {
//     %0 = nn.gelu_tanh %arg0 : tensor<2x3xf32>
//     return %0 : tensor<2x3xf32>
//   }
// }
