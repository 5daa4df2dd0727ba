// RUN: optc --passes=layout
// Concatenations and reductions change their axes when a transpose passes them. A transpose that only moves
// axes of one element ends as a reshape.

func.func @main(%arg0: tensor<1x3x6x6xf32>) -> tensor<1x16xf32> {
  %w = nn.constant dense<0.5> : tensor<8x3x1x1xf32>
  %0 = nn.conv2d %arg0, %w : (tensor<1x3x6x6xf32>, tensor<8x3x1x1xf32>) -> tensor<1x8x6x6xf32>
  %1 = nn.concat %0, %0 {axis = 1 : i64} : (tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>) -> tensor<1x16x6x6xf32>
  %2 = nn.reduce_mean %1 {axes = array<i64: 2, 3>, keepdims} : (tensor<1x16x6x6xf32>) -> tensor<1x16x1x1xf32>
  %3 = nn.reshape %2 {shape = array<i64: 1, 16>} : (tensor<1x16x1x1xf32>) -> tensor<1x16xf32>
  return %3 : tensor<1x16xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x3x6x6xf32>) -> tensor<1x16xf32> attributes {optc.stage = "layout"} {
//     %0 = nn.constant dense<5.000000e-01> : tensor<8x3x1x1xf32>
//     %1 = nn.transpose %arg0 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x3x6x6xf32>) -> tensor<1x6x6x3xf32>
//     %2 = nn.conv2d %1, %0 {layout = "NHWC"} : (tensor<1x6x6x3xf32>, tensor<8x3x1x1xf32>) -> tensor<1x6x6x8xf32>
//     %3 = nn.concat %2, %2 {axis = 3 : i64} : (tensor<1x6x6x8xf32>, tensor<1x6x6x8xf32>) -> tensor<1x6x6x16xf32>
//     %4 = nn.reduce_mean %3 {axes = array<i64: 1, 2>, keepdims} : (tensor<1x6x6x16xf32>) -> tensor<1x1x1x16xf32>
//     %5 = nn.reshape %4 {shape = array<i64: 1, 16>} : (tensor<1x1x1x16xf32>) -> tensor<1x16xf32>
//     return %5 : tensor<1x16xf32>
//   }
// }
