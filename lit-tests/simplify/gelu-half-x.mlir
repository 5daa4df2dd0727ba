// RUN: optc --passes='simplify{laws=gelu-half-x}'
// The law that finds GELU where the half is multiplied into x, as some exporters write it.

func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %h = nn.constant dense<0.5> : tensor<f32>
  %o = nn.constant dense<1.0> : tensor<f32>
  %r = nn.constant dense<1.41421354> : tensor<f32>
  %0 = nn.div %x, %r : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
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
