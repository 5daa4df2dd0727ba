// RUN: optc --passes='simplify{laws=gelu-times-root}'
// The law that finds GELU where x is multiplied by the root of one half instead of being divided by the root
// of 2.

func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %h = nn.constant dense<0.5> : tensor<f32>
  %o = nn.constant dense<1.0> : tensor<f32>
  %q = nn.constant dense<0.707106769> : tensor<f32>
  %0 = nn.mul %x, %q : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %1 = nn.erf %0 : tensor<2x3xf32>
  %2 = nn.add %1, %o : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %3 = nn.mul %x, %h : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %4 = nn.mul %3, %2 : tensor<2x3xf32>
  return %4 : tensor<2x3xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> attributes {optc.stage = "simplify"} {
//     %0 = nn.gelu %arg0 : tensor<2x3xf32>
//     return %0 : tensor<2x3xf32>
//   }
// }
