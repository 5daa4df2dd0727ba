// RUN: optc --passes=integers
// Few channels keep a convolution of floats only where it has groups: the first one of a network has three.

func.func @main(%x: tensor<1x3x6x6xui8>) -> tensor<1x4x6x6xf32> {
  %w = nn.constant dense<3> : tensor<4x3x3x3xi8>
  %s = nn.constant dense<0.5> : tensor<f32>
  %0 = nn.cast %x {to = f32} : (tensor<1x3x6x6xui8>) -> tensor<1x3x6x6xf32>
  %1 = nn.mul %0, %s : (tensor<1x3x6x6xf32>, tensor<f32>) -> tensor<1x3x6x6xf32>
  %2 = nn.cast %w {to = f32} : (tensor<4x3x3x3xi8>) -> tensor<4x3x3x3xf32>
  %3 = nn.mul %2, %s : (tensor<4x3x3x3xf32>, tensor<f32>) -> tensor<4x3x3x3xf32>
  %4 = nn.conv2d %1, %3 {pads = array<i64: 1, 1, 1, 1>}
    : (tensor<1x3x6x6xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
  return %4 : tensor<1x4x6x6xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x3x6x6xui8>) -> tensor<1x4x6x6xf32> {
//     %0 = nn.constant dense<3> : tensor<4x3x3x3xi8>
//     %1 = nn.constant dense<5.000000e-01> : tensor<f32>
//     %2 = nn.constant dense<0> : tensor<ui8>
//     %3 = nn.constant dense<0> : tensor<i8>
//     %4 = nn.quantized_conv2d %arg0, %0, %2, %3 {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x3x6x6xui8>, tensor<4x3x3x3xi8>, tensor<ui8>, tensor<i8>) -> tensor<1x4x6x6xi32>
//     %5 = nn.cast %4 {to = f32} : (tensor<1x4x6x6xi32>) -> tensor<1x4x6x6xf32>
//     %6 = nn.mul %1, %1 : tensor<f32>
//     %7 = nn.mul %5, %6 : (tensor<1x4x6x6xf32>, tensor<f32>) -> tensor<1x4x6x6xf32>
//     return %7 : tensor<1x4x6x6xf32>
//   }
// }
