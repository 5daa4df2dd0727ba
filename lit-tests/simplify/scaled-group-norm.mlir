// RUN: optc --passes='simplify{laws=scaled-group-norm}'
// The law that a constant factor per channel after a group norm goes into its scale and its bias.

func.func @main(%x: tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32> {
  %s = nn.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %b = nn.constant dense<[0.5, 1.0, -1.0, 2.0]> : tensor<4xf32>
  %k = nn.constant dense<[[[2.0]], [[4.0]], [[0.5]], [[-1.0]]]> : tensor<4x1x1xf32>
  %0 = nn.group_norm %x, %s, %b {axes = array<i64: 2, 3>, groups = 2 : i64} : (tensor<1x4x2x2xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x2x2xf32>
  %1 = nn.mul %0, %k : (tensor<1x4x2x2xf32>, tensor<4x1x1xf32>) -> tensor<1x4x2x2xf32>
  return %1 : tensor<1x4x2x2xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32> attributes {optc.stage = "simplify"} {
//     %0 = nn.constant dense<[2.000000e+00, 8.000000e+00, 1.500000e+00, -4.000000e+00]> : tensor<4xf32>
//     %1 = nn.constant dense<[1.000000e+00, 4.000000e+00, -5.000000e-01, -2.000000e+00]> : tensor<4xf32>
//     %2 = nn.group_norm %arg0, %0, %1 {axes = array<i64: 2, 3>, groups = 2 : i64} : (tensor<1x4x2x2xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x2x2xf32>
//     return %2 : tensor<1x4x2x2xf32>
//   }
// }
