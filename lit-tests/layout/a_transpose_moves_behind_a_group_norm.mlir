// RUN: optc --passes=layout
// The transpose passes a group norm whose `axis` and `axes` are renumbered. Stopping there would leave two
// transposes in the middle of the program.

func.func @main(%x: tensor<1x8x4x6xf32>) -> tensor<1x8x4x6xf32> {
  %s = nn.constant dense<0.5> : tensor<8xf32>
  %b = nn.constant dense<0.25> : tensor<8xf32>
  %0 = nn.max_pool2d %x {kernel = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x4x6xf32>) -> tensor<1x8x4x6xf32>
  %1 = nn.group_norm %0, %s, %b {axes = array<i64: 2, 3>, groups = 2 : i64} : (tensor<1x8x4x6xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<1x8x4x6xf32>
  return %1 : tensor<1x8x4x6xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x8x4x6xf32>) -> tensor<1x8x4x6xf32> attributes {optc.stage = "layout"} {
//     %0 = nn.constant dense<5.000000e-01> : tensor<8xf32>
//     %1 = nn.constant dense<2.500000e-01> : tensor<8xf32>
//     %2 = nn.transpose %arg0 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x8x4x6xf32>) -> tensor<1x4x6x8xf32>
//     %3 = nn.max_pool2d %2 {kernel = array<i64: 3, 3>, layout = "NHWC", pads = array<i64: 1, 1, 1, 1>} : tensor<1x4x6x8xf32>
//     %4 = nn.group_norm %3, %0, %1 {axes = array<i64: 1, 2>, axis = 3 : i64, groups = 2 : i64} : (tensor<1x4x6x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<1x4x6x8xf32>
//     %5 = nn.transpose %4 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x4x6x8xf32>) -> tensor<1x8x4x6xf32>
//     return %5 : tensor<1x8x4x6xf32>
//   }
// }
