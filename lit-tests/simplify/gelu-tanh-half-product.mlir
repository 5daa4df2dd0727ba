// RUN: optc --passes='simplify{laws=gelu-tanh-half-product}'
// The law that finds the tanh form of GELU where the half comes last.

func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %k = nn.constant dense<0.044715> : tensor<f32>
  %r = nn.constant dense<0.797884583> : tensor<f32>
  %h = nn.constant dense<0.5> : tensor<f32>
  %o = nn.constant dense<1.0> : tensor<f32>
  %0 = nn.square %x : tensor<2x3xf32>
  %1 = nn.mul %0, %x : tensor<2x3xf32>
  %2 = nn.mul %1, %k : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %3 = nn.add %x, %2 : tensor<2x3xf32>
  %4 = nn.mul %3, %r : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %5 = nn.tanh %4 : tensor<2x3xf32>
  %6 = nn.add %5, %o : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %7 = nn.mul %x, %6 : tensor<2x3xf32>
  %8 = nn.mul %7, %h : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  return %8 : tensor<2x3xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> attributes {optc.stage = "simplify"} {
//     %0 = nn.gelu_tanh %arg0 : tensor<2x3xf32>
//     return %0 : tensor<2x3xf32>
//   }
// }
