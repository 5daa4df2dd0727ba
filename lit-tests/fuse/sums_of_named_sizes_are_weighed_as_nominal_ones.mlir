// RUN: optc --passes=fuse
// Which convolution takes the sum depends on the peak, which is computed at the nominal sizes when sizes are
// named. Here the earlier one lets the norm overwrite %0.

func.func @main(%x: tensor<1x?x?x16xf32, #optc.dims<H, W>>) -> tensor<1x1x1x8xf32> {
  %s = nn.constant dense<0.5> : tensor<16xf32>
  %b = nn.constant dense<0.25> : tensor<16xf32>
  %v = nn.constant dense<0.125> : tensor<8x16x3x3xf32>
  %w = nn.constant dense<0.5> : tensor<8x16x1x1xf32>
  %0 = nn.neg %x : tensor<1x?x?x16xf32, #optc.dims<H, W>>
  %1 = nn.group_norm %0, %s, %b {axis = 3 : i64, axes = array<i64: 1, 2>, groups = 2 : i64} : (tensor<1x?x?x16xf32, #optc.dims<H, W>>, tensor<16xf32>, tensor<16xf32>) -> tensor<1x?x?x16xf32, #optc.dims<H, W>>
  %2 = nn.conv2d %1, %v {layout = "NHWC", pads = array<i64: 1, 1, 1, 1>} : (tensor<1x?x?x16xf32, #optc.dims<H, W>>, tensor<8x16x3x3xf32>) -> tensor<1x?x?x8xf32, #optc.dims<H, W>>
  %3 = nn.conv2d %0, %w {layout = "NHWC"} : (tensor<1x?x?x16xf32, #optc.dims<H, W>>, tensor<8x16x1x1xf32>) -> tensor<1x?x?x8xf32, #optc.dims<H, W>>
  %4 = nn.add %2, %3 : tensor<1x?x?x8xf32, #optc.dims<H, W>>
  %5 = nn.reduce_mean %4 {axes = array<i64: 1, 2>, keepdims} : (tensor<1x?x?x8xf32, #optc.dims<H, W>>) -> tensor<1x1x1x8xf32>
  return %5 : tensor<1x1x1x8xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x?x?x16xf32, #optc.dims<H, W>>) -> tensor<1x1x1x8xf32> attributes {optc.stage = "fuse"} {
//     %0 = nn.constant dense<5.000000e-01> : tensor<16xf32>
//     %1 = nn.constant dense<2.500000e-01> : tensor<16xf32>
//     %2 = nn.constant dense<1.250000e-01> : tensor<8x16x3x3xf32>
//     %3 = nn.constant dense<5.000000e-01> : tensor<8x16x1x1xf32>
//     %4 = nn.neg %arg0 : tensor<1x?x?x16xf32, #optc.dims<H, W>>
//     %5 = nn.group_norm %4, %0, %1 {axes = array<i64: 1, 2>, axis = 3 : i64, groups = 2 : i64} : (tensor<1x?x?x16xf32, #optc.dims<H, W>>, tensor<16xf32>, tensor<16xf32>) -> tensor<1x?x?x16xf32, #optc.dims<H, W>>
//     %6 = nn.conv2d %4, %3 {layout = "NHWC"} : (tensor<1x?x?x16xf32, #optc.dims<H, W>>, tensor<8x16x1x1xf32>) -> tensor<1x?x?x8xf32, #optc.dims<H, W>>
//     %7 = optc.group(%arg1 = %5, %arg2 = %2, %arg3 = %6) : (tensor<1x?x?x16xf32, #optc.dims<H, W>>, tensor<8x16x3x3xf32>, tensor<1x?x?x8xf32, #optc.dims<H, W>>) -> tensor<1x?x?x8xf32, #optc.dims<H, W>> {
//       %9 = nn.conv2d %arg1, %arg2 {layout = "NHWC", pads = array<i64: 1, 1, 1, 1>} : (tensor<1x?x?x16xf32, #optc.dims<H, W>>, tensor<8x16x3x3xf32>) -> tensor<1x?x?x8xf32, #optc.dims<H, W>>
//       %10 = nn.add %9, %arg3 : tensor<1x?x?x8xf32, #optc.dims<H, W>>
//       optc.yield %10 : tensor<1x?x?x8xf32, #optc.dims<H, W>>
//     }
//     %8 = nn.reduce_mean %7 {axes = array<i64: 1, 2>, keepdims} : (tensor<1x?x?x8xf32, #optc.dims<H, W>>) -> tensor<1x1x1x8xf32>
//     return %8 : tensor<1x1x1x8xf32>
//   }
// }
