// RUN: optc --passes='simplify{laws=rms-norm-by-reciprocal}'
// The law that finds an RMS norm that multiplies by a reciprocal: one pass over memory in the place of five.

func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %e = nn.constant dense<0.001> : tensor<f32>
  %0 = nn.square %x : tensor<2x3xf32>
  %1 = nn.reduce_mean %0 {axes = array<i64: 1>, keepdims} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %2 = nn.add %1, %e : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %3 = nn.sqrt %2 : tensor<2x1xf32>
  %4 = nn.reciprocal %3 : tensor<2x1xf32>
  %5 = nn.mul %x, %4 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
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
// }
