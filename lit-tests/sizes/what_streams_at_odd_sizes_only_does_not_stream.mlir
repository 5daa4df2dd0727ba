// RUN: optc --passes='lines'
// Where H is even, the last window of the second convolution lies in the padding. The sizes at which chains
// are tried are odd.

func.func @main(%x: tensor<1x?x16x4xf32, #optc.dims<H>>) -> tensor<1x?x8x4xf32, #optc.dims<H floordiv 2 + 1>> attributes {optc.dims = {H = [1, 31]}} {
  %w = nn.constant dense<0.5> : tensor<32x4x1x1xf32>
  %v = nn.constant dense<0.25> : tensor<4x32x1x1xf32>
  %0 = nn.neg %x : tensor<1x?x16x4xf32, #optc.dims<H>>
  %1 = nn.conv2d %0, %w {layout = "NHWC"} : (tensor<1x?x16x4xf32, #optc.dims<H>>, tensor<32x4x1x1xf32>) -> tensor<1x?x16x32xf32, #optc.dims<H>>
  %2 = nn.conv2d %1, %v {layout = "NHWC", pads = array<i64: 0, 0, 1, 0>, strides = array<i64: 2, 2>} : (tensor<1x?x16x32xf32, #optc.dims<H>>, tensor<4x32x1x1xf32>) -> tensor<1x?x8x4xf32, #optc.dims<H floordiv 2 + 1>>
  %3 = nn.neg %2 : tensor<1x?x8x4xf32, #optc.dims<H floordiv 2 + 1>>
  return %3 : tensor<1x?x8x4xf32, #optc.dims<H floordiv 2 + 1>>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x?x16x4xf32, #optc.dims<H>>) -> tensor<1x?x8x4xf32, #optc.dims<H floordiv 2 + 1>> attributes {optc.dims = {H = [1, 31]}} {
//     %0 = nn.constant dense<5.000000e-01> : tensor<32x4x1x1xf32>
//     %1 = nn.constant dense<2.500000e-01> : tensor<4x32x1x1xf32>
//     %2 = nn.neg %arg0 : tensor<1x?x16x4xf32, #optc.dims<H>>
//     %3 = nn.conv2d %2, %0 {layout = "NHWC"} : (tensor<1x?x16x4xf32, #optc.dims<H>>, tensor<32x4x1x1xf32>) -> tensor<1x?x16x32xf32, #optc.dims<H>>
//     %4 = nn.conv2d %3, %1 {layout = "NHWC", pads = array<i64: 0, 0, 1, 0>, strides = array<i64: 2, 2>} : (tensor<1x?x16x32xf32, #optc.dims<H>>, tensor<4x32x1x1xf32>) -> tensor<1x?x8x4xf32, #optc.dims<H floordiv 2 + 1>>
//     %5 = nn.neg %4 : tensor<1x?x8x4xf32, #optc.dims<H floordiv 2 + 1>>
//     return %5 : tensor<1x?x8x4xf32, #optc.dims<H floordiv 2 + 1>>
//   }
// }
