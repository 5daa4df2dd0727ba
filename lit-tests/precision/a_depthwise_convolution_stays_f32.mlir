// RUN: optc --passes=layout,fuse,precision
// Where each channel is a group of its own and columns are dilated, no kernel reads or stores bf16.

func.func @main(%x: tensor<1x32x8x8xf32>) -> tensor<1x32x8x8xf32> {
  %w = nn.constant dense<0.3> : tensor<32x1x3x3xf32>
  %0 = nn.conv2d %x, %w {groups = 32 : i64, pads = array<i64: 2, 2, 2, 2>, dilations = array<i64: 2, 2>} : (tensor<1x32x8x8xf32>, tensor<32x1x3x3xf32>) -> tensor<1x32x8x8xf32>
  %1 = nn.conv2d %0, %w {groups = 32 : i64, pads = array<i64: 2, 2, 2, 2>, dilations = array<i64: 2, 2>} : (tensor<1x32x8x8xf32>, tensor<32x1x3x3xf32>) -> tensor<1x32x8x8xf32>
  return %1 : tensor<1x32x8x8xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x32x8x8xf32>) -> tensor<1x32x8x8xf32> attributes {optc.stage = "fuse"} {
//     %0 = nn.constant dense<3.000000e-01> : tensor<32x1x3x3xf32>
//     %1 = nn.transpose %arg0 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x32x8x8xf32>) -> tensor<1x8x8x32xf32>
//     %2 = nn.conv2d %1, %0 {dilations = array<i64: 2, 2>, groups = 32 : i64, layout = "NHWC", pads = array<i64: 2, 2, 2, 2>} : (tensor<1x8x8x32xf32>, tensor<32x1x3x3xf32>) -> tensor<1x8x8x32xf32>
//     %3 = nn.conv2d %2, %0 {dilations = array<i64: 2, 2>, groups = 32 : i64, layout = "NHWC", pads = array<i64: 2, 2, 2, 2>} : (tensor<1x8x8x32xf32>, tensor<32x1x3x3xf32>) -> tensor<1x8x8x32xf32>
//     %4 = nn.transpose %3 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x8x8x32xf32>) -> tensor<1x32x8x8xf32>
//     return %4 : tensor<1x32x8x8xf32>
//   }
// }
