// RUN: optc --passes='simplify{laws=rms-norm-by-quotient}'
// The law that finds an RMS norm that divides: along any axis, since the channels of images come second. A
// mean of two axes must stay.

func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %e = nn.constant dense<0.001> : tensor<f32>
  %0 = nn.square %x : tensor<2x3xf32>
  %1 = nn.reduce_mean %0 {axes = array<i64: 1>, keepdims} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %2 = nn.add %1, %e : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %3 = nn.sqrt %2 : tensor<2x1xf32>
  %5 = nn.div %x, %3 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  return %5 : tensor<2x3xf32>
}
func.func @columns(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %e = nn.constant dense<0.001> : tensor<f32>
  %0 = nn.square %x : tensor<2x3xf32>
  %1 = nn.reduce_mean %0 {axes = array<i64: 0>, keepdims} : (tensor<2x3xf32>) -> tensor<1x3xf32>
  %2 = nn.add %1, %e : (tensor<1x3xf32>, tensor<f32>) -> tensor<1x3xf32>
  %3 = nn.sqrt %2 : tensor<1x3xf32>
  %5 = nn.div %x, %3 : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  return %5 : tensor<2x3xf32>
}

func.func @both(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %e = nn.constant dense<0.001> : tensor<f32>
  %0 = nn.square %x : tensor<2x3xf32>
  %1 = nn.reduce_mean %0 {axes = array<i64: 0, 1>, keepdims} : (tensor<2x3xf32>) -> tensor<1x1xf32>
  %2 = nn.add %1, %e : (tensor<1x1xf32>, tensor<f32>) -> tensor<1x1xf32>
  %3 = nn.sqrt %2 : tensor<1x1xf32>
  %5 = nn.div %x, %3 : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32>
  return %5 : tensor<2x3xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> attributes {optc.stage = "simplify"} {
//     %0 = nn.constant dense<1.000000e+00> : tensor<3xf32>
//     %1 = nn.constant dense<0.000000e+00> : tensor<3xf32>
//     %2 = nn.group_norm %arg0, %0, %1 {about_zero, axes = array<i64>, axis = 1 : i64, epsilon = 1.000000e-03 : f32, groups = 1 : i64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
//     return %2 : tensor<2x3xf32>
//   }
//   func.func @columns(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> attributes {optc.stage = "simplify"} {
//     %0 = nn.constant dense<1.000000e+00> : tensor<2xf32>
//     %1 = nn.constant dense<0.000000e+00> : tensor<2xf32>
//     %2 = nn.group_norm %arg0, %0, %1 {about_zero, axes = array<i64>, axis = 0 : i64, epsilon = 1.000000e-03 : f32, groups = 1 : i64} : (tensor<2x3xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x3xf32>
//     return %2 : tensor<2x3xf32>
//   }
//   func.func @both(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> attributes {optc.stage = "simplify"} {
//     %0 = nn.constant dense<1.000000e-03> : tensor<f32>
//     %1 = nn.square %arg0 : tensor<2x3xf32>
//     %2 = nn.reduce_mean %1 {axes = array<i64: 0, 1>, keepdims} : (tensor<2x3xf32>) -> tensor<1x1xf32>
//     %3 = nn.add %2, %0 : (tensor<1x1xf32>, tensor<f32>) -> tensor<1x1xf32>
//     %4 = nn.sqrt %3 : tensor<1x1xf32>
//     %5 = nn.div %arg0, %4 : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32>
//     return %5 : tensor<2x3xf32>
//   }
// }
