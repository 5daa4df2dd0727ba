// RUN: optc --passes='simplify{laws=outer-taps-with-bias}'
// The law that rows and columns of a filter that meet only padding, at every position, are left out: with
// such a dilation, nets like DeepLab multiply mostly zeros.

func.func @main(%x: tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32> {
  %w = nn.constant dense<[[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]]]> : tensor<1x1x3x3xf32>
  %b = nn.constant dense<0.5> : tensor<1xf32>
  %0 = nn.conv2d %x, %w, %b {dilations = array<i64: 4, 3>, pads = array<i64: 4, 3, 4, 3>} : (tensor<1x1x4x4xf32>, tensor<1x1x3x3xf32>, tensor<1xf32>) -> tensor<1x1x4x4xf32>
  return %0 : tensor<1x1x4x4xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32> attributes {optc.stage = "simplify"} {
//     %0 = nn.constant dense<5.000000e-01> : tensor<1xf32>
//     %1 = nn.constant dense<[[[[4.000000e+00, 5.000000e+00, 6.000000e+00]]]]> : tensor<1x1x1x3xf32>
//     %2 = nn.conv2d %arg0, %1, %0 {dilations = array<i64: 4, 3>, pads = array<i64: 0, 3, 0, 3>} : (tensor<1x1x4x4xf32>, tensor<1x1x1x3xf32>, tensor<1xf32>) -> tensor<1x1x4x4xf32>
//     return %2 : tensor<1x1x4x4xf32>
//   }
// }
