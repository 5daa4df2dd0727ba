// RUN: optc --passes='simplify{laws=group-norm-of-reshape+reshape-to-same-shape+scaled-group-norm}'
// The law moves a reshape past a group norm. It saves nothing here by itself; it lets what follows the
// reshape move into the norm.

func.func @main(%x: tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> {
  %s = nn.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = nn.constant dense<[0.5, -1.0]> : tensor<2xf32>
  %k = nn.constant dense<[[[2.0]], [[4.0]], [[0.5]], [[-1.0]]]> : tensor<4x1x1xf32>
  %0 = nn.reshape %x {shape = array<i64: 1, 2, 128>} : (tensor<1x4x8x8xf32>) -> tensor<1x2x128xf32>
  %1 = nn.group_norm %0, %s, %b {axes = array<i64: 2>, groups = 2 : i64} : (tensor<1x2x128xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x128xf32>
  %2 = nn.reshape %1 {shape = array<i64: 1, 4, 8, 8>} : (tensor<1x2x128xf32>) -> tensor<1x4x8x8xf32>
  %3 = nn.mul %2, %k : (tensor<1x4x8x8xf32>, tensor<4x1x1xf32>) -> tensor<1x4x8x8xf32>
  return %3 : tensor<1x4x8x8xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> attributes {optc.stage = "simplify"} {
//     %0 = nn.constant dense<[2.000000e+00, 4.000000e+00, 1.000000e+00, -2.000000e+00]> : tensor<4xf32>
//     %1 = nn.constant dense<[1.000000e+00, 2.000000e+00, -5.000000e-01, 1.000000e+00]> : tensor<4xf32>
//     %2 = nn.group_norm %arg0, %0, %1 {axes = array<i64: 2, 3>, axis = 1 : i64, groups = 2 : i64} : (tensor<1x4x8x8xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x8x8xf32>
//     return %2 : tensor<1x4x8x8xf32>
//   }
// }
