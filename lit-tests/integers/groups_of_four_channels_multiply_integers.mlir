// RUN: optc --passes=integers
// Groups of four channels in and out have a kernel of integers; with eight channels out they stay float.

func.func @main(%x: tensor<1x8x6x6xui8>) -> (tensor<1x8x6x6xf32>, tensor<1x16x6x6xf32>) {
  %w = nn.constant dense<3> : tensor<8x4x3x3xi8>
  %v = nn.constant dense<3> : tensor<16x4x3x3xi8>
  %s = nn.constant dense<0.5> : tensor<f32>
  %0 = nn.cast %x {to = f32} : (tensor<1x8x6x6xui8>) -> tensor<1x8x6x6xf32>
  %1 = nn.mul %0, %s : (tensor<1x8x6x6xf32>, tensor<f32>) -> tensor<1x8x6x6xf32>
  %2 = nn.cast %w {to = f32} : (tensor<8x4x3x3xi8>) -> tensor<8x4x3x3xf32>
  %3 = nn.mul %2, %s : (tensor<8x4x3x3xf32>, tensor<f32>) -> tensor<8x4x3x3xf32>
  %4 = nn.conv2d %1, %3 {groups = 2 : i64, pads = array<i64: 1, 1, 1, 1>}
    : (tensor<1x8x6x6xf32>, tensor<8x4x3x3xf32>) -> tensor<1x8x6x6xf32>
  %5 = nn.cast %v {to = f32} : (tensor<16x4x3x3xi8>) -> tensor<16x4x3x3xf32>
  %6 = nn.mul %5, %s : (tensor<16x4x3x3xf32>, tensor<f32>) -> tensor<16x4x3x3xf32>
  %7 = nn.conv2d %1, %6 {groups = 2 : i64, pads = array<i64: 1, 1, 1, 1>}
    : (tensor<1x8x6x6xf32>, tensor<16x4x3x3xf32>) -> tensor<1x16x6x6xf32>
  return %4, %7 : tensor<1x8x6x6xf32>, tensor<1x16x6x6xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x8x6x6xui8>) -> (tensor<1x8x6x6xf32>, tensor<1x16x6x6xf32>) {
//     %0 = nn.constant dense<3> : tensor<8x4x3x3xi8>
//     %1 = nn.constant dense<3> : tensor<16x4x3x3xi8>
//     %2 = nn.constant dense<5.000000e-01> : tensor<f32>
//     %3 = nn.cast %arg0 {to = f32} : (tensor<1x8x6x6xui8>) -> tensor<1x8x6x6xf32>
//     %4 = nn.mul %3, %2 : (tensor<1x8x6x6xf32>, tensor<f32>) -> tensor<1x8x6x6xf32>
//     %5 = nn.constant dense<0> : tensor<ui8>
//     %6 = nn.constant dense<0> : tensor<i8>
//     %7 = nn.quantized_conv2d %arg0, %0, %5, %6 {groups = 2 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x6x6xui8>, tensor<8x4x3x3xi8>, tensor<ui8>, tensor<i8>) -> tensor<1x8x6x6xi32>
//     %8 = nn.cast %7 {to = f32} : (tensor<1x8x6x6xi32>) -> tensor<1x8x6x6xf32>
//     %9 = nn.mul %2, %2 : tensor<f32>
//     %10 = nn.mul %8, %9 : (tensor<1x8x6x6xf32>, tensor<f32>) -> tensor<1x8x6x6xf32>
//     %11 = nn.cast %1 {to = f32} : (tensor<16x4x3x3xi8>) -> tensor<16x4x3x3xf32>
//     %12 = nn.mul %11, %2 : (tensor<16x4x3x3xf32>, tensor<f32>) -> tensor<16x4x3x3xf32>
//     %13 = nn.conv2d %4, %12 {groups = 2 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x6x6xf32>, tensor<16x4x3x3xf32>) -> tensor<1x16x6x6xf32>
//     return %10, %13 : tensor<1x8x6x6xf32>, tensor<1x16x6x6xf32>
//   }
// }
