// RUN: optc --passes=simplify
// The six channels of the image do not divide into the norm's four groups, so the law `group-norm-of-reshape`
// must not apply.

func.func @main(%x: tensor<1x6x8x8xf32>) -> tensor<1x6x8x8xf32> {
  %s = nn.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %b = nn.constant dense<[0.5, -1.0, 1.0, 2.0]> : tensor<4xf32>
  %0 = nn.reshape %x {shape = array<i64: 1, 4, 96>} : (tensor<1x6x8x8xf32>) -> tensor<1x4x96xf32>
  %1 = nn.group_norm %0, %s, %b {axes = array<i64: 2>, groups = 4 : i64} : (tensor<1x4x96xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x96xf32>
  %2 = nn.reshape %1 {shape = array<i64: 1, 6, 8, 8>} : (tensor<1x4x96xf32>) -> tensor<1x6x8x8xf32>
  %k = nn.constant dense<2.0> : tensor<6x1x1xf32>
  %3 = nn.mul %2, %k : (tensor<1x6x8x8xf32>, tensor<6x1x1xf32>) -> tensor<1x6x8x8xf32>
  return %3 : tensor<1x6x8x8xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x6x8x8xf32>) -> tensor<1x6x8x8xf32> attributes {optc.stage = "simplify"} {
//     %0 = nn.constant dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]> : tensor<4xf32>
//     %1 = nn.constant dense<[5.000000e-01, -1.000000e+00, 1.000000e+00, 2.000000e+00]> : tensor<4xf32>
//     %2 = nn.reshape %arg0 {shape = array<i64: 1, 4, 96>} : (tensor<1x6x8x8xf32>) -> tensor<1x4x96xf32>
//     %3 = nn.group_norm %2, %0, %1 {axes = array<i64: 2>, groups = 4 : i64} : (tensor<1x4x96xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x96xf32>
//     %4 = nn.reshape %3 {shape = array<i64: 1, 6, 8, 8>} : (tensor<1x4x96xf32>) -> tensor<1x6x8x8xf32>
//     %5 = nn.constant dense<2.000000e+00> : tensor<6x1x1xf32>
//     %6 = nn.mul %4, %5 : (tensor<1x6x8x8xf32>, tensor<6x1x1xf32>) -> tensor<1x6x8x8xf32>
//     return %6 : tensor<1x6x8x8xf32>
//   }
// }
