// RUN: optc --passes=layout
// The target wants channels last. All transposes end up at the inputs and outputs, so none is left between
// convolutions.

func.func @main(%arg0: tensor<1x3x6x6xf32>) -> tensor<1x8x6x6xf32> {
  %w = nn.constant dense<0.5> : tensor<8x3x3x3xf32>
  %v = nn.constant dense<0.5> : tensor<8x8x1x1xf32>
  %s = nn.constant dense<2.0> : tensor<1x8x1x1xf32>
  %0 = nn.conv2d %arg0, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x3x6x6xf32>, tensor<8x3x3x3xf32>) -> tensor<1x8x6x6xf32>
  %1 = nn.mul %0, %s : (tensor<1x8x6x6xf32>, tensor<1x8x1x1xf32>) -> tensor<1x8x6x6xf32>
  %2 = nn.relu %1 : tensor<1x8x6x6xf32>
  %3 = nn.conv2d %2, %v : (tensor<1x8x6x6xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x6x6xf32>
  %4 = nn.add %3, %2 : tensor<1x8x6x6xf32>
  return %4 : tensor<1x8x6x6xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x3x6x6xf32>) -> tensor<1x8x6x6xf32> attributes {optc.stage = "layout"} {
//     %0 = nn.constant dense<5.000000e-01> : tensor<8x3x3x3xf32>
//     %1 = nn.constant dense<5.000000e-01> : tensor<8x8x1x1xf32>
//     %2 = nn.constant dense<2.000000e+00> : tensor<1x8x1x1xf32>
//     %3 = nn.transpose %arg0 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x3x6x6xf32>) -> tensor<1x6x6x3xf32>
//     %4 = nn.conv2d %3, %0 {layout = "NHWC", pads = array<i64: 1, 1, 1, 1>} : (tensor<1x6x6x3xf32>, tensor<8x3x3x3xf32>) -> tensor<1x6x6x8xf32>
//     %5 = nn.reshape %2 {shape = array<i64: 1, 1, 1, 8>} : (tensor<1x8x1x1xf32>) -> tensor<1x1x1x8xf32>
//     %6 = nn.mul %4, %5 : (tensor<1x6x6x8xf32>, tensor<1x1x1x8xf32>) -> tensor<1x6x6x8xf32>
//     %7 = nn.relu %6 : tensor<1x6x6x8xf32>
//     %8 = nn.conv2d %7, %1 {layout = "NHWC"} : (tensor<1x6x6x8xf32>, tensor<8x8x1x1xf32>) -> tensor<1x6x6x8xf32>
//     %9 = nn.add %8, %7 : tensor<1x6x6x8xf32>
//     %10 = nn.transpose %9 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x6x6x8xf32>) -> tensor<1x8x6x6xf32>
//     return %10 : tensor<1x8x6x6xf32>
//   }
// }
