// RUN: optc --passes=integers
// Groups of few channels have kernels of floats only, unless each has one channel in and one out.

func.func @main(%x: tensor<1x8x6x6xui8>) -> (tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>, tensor<1x16x6x6xf32>) {
  %w = nn.constant dense<3> : tensor<8x1x3x3xi8>
  %v = nn.constant dense<3> : tensor<8x2x3x3xi8>
  %u = nn.constant dense<3> : tensor<16x1x3x3xi8>
  %s = nn.constant dense<0.5> : tensor<f32>
  %0 = nn.cast %x {to = f32} : (tensor<1x8x6x6xui8>) -> tensor<1x8x6x6xf32>
  %1 = nn.mul %0, %s : (tensor<1x8x6x6xf32>, tensor<f32>) -> tensor<1x8x6x6xf32>
  %2 = nn.cast %w {to = f32} : (tensor<8x1x3x3xi8>) -> tensor<8x1x3x3xf32>
  %3 = nn.mul %2, %s : (tensor<8x1x3x3xf32>, tensor<f32>) -> tensor<8x1x3x3xf32>
  %4 = nn.conv2d %1, %3 {groups = 8 : i64, pads = array<i64: 1, 1, 1, 1>}
    : (tensor<1x8x6x6xf32>, tensor<8x1x3x3xf32>) -> tensor<1x8x6x6xf32>
  %5 = nn.cast %v {to = f32} : (tensor<8x2x3x3xi8>) -> tensor<8x2x3x3xf32>
  %6 = nn.mul %5, %s : (tensor<8x2x3x3xf32>, tensor<f32>) -> tensor<8x2x3x3xf32>
  %7 = nn.conv2d %1, %6 {groups = 4 : i64, pads = array<i64: 1, 1, 1, 1>}
    : (tensor<1x8x6x6xf32>, tensor<8x2x3x3xf32>) -> tensor<1x8x6x6xf32>
  %8 = nn.cast %u {to = f32} : (tensor<16x1x3x3xi8>) -> tensor<16x1x3x3xf32>
  %9 = nn.mul %8, %s : (tensor<16x1x3x3xf32>, tensor<f32>) -> tensor<16x1x3x3xf32>
  %10 = nn.conv2d %1, %9 {groups = 8 : i64, pads = array<i64: 1, 1, 1, 1>}
    : (tensor<1x8x6x6xf32>, tensor<16x1x3x3xf32>) -> tensor<1x16x6x6xf32>
  return %4, %7, %10 : tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>, tensor<1x16x6x6xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x8x6x6xui8>) -> (tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>, tensor<1x16x6x6xf32>) {
//     %0 = nn.constant dense<3> : tensor<8x1x3x3xi8>
//     %1 = nn.constant dense<3> : tensor<8x2x3x3xi8>
//     %2 = nn.constant dense<3> : tensor<16x1x3x3xi8>
//     %3 = nn.constant dense<5.000000e-01> : tensor<f32>
//     %4 = nn.cast %arg0 {to = f32} : (tensor<1x8x6x6xui8>) -> tensor<1x8x6x6xf32>
//     %5 = nn.mul %4, %3 : (tensor<1x8x6x6xf32>, tensor<f32>) -> tensor<1x8x6x6xf32>
//     %6 = nn.constant dense<0> : tensor<ui8>
//     %7 = nn.constant dense<0> : tensor<i8>
//     %8 = nn.quantized_conv2d %arg0, %0, %6, %7 {groups = 8 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x6x6xui8>, tensor<8x1x3x3xi8>, tensor<ui8>, tensor<i8>) -> tensor<1x8x6x6xi32>
//     %9 = nn.cast %8 {to = f32} : (tensor<1x8x6x6xi32>) -> tensor<1x8x6x6xf32>
//     %10 = nn.mul %3, %3 : tensor<f32>
//     %11 = nn.mul %9, %10 : (tensor<1x8x6x6xf32>, tensor<f32>) -> tensor<1x8x6x6xf32>
//     %12 = nn.cast %1 {to = f32} : (tensor<8x2x3x3xi8>) -> tensor<8x2x3x3xf32>
//     %13 = nn.mul %12, %3 : (tensor<8x2x3x3xf32>, tensor<f32>) -> tensor<8x2x3x3xf32>
//     %14 = nn.conv2d %5, %13 {groups = 4 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x6x6xf32>, tensor<8x2x3x3xf32>) -> tensor<1x8x6x6xf32>
//     %15 = nn.cast %2 {to = f32} : (tensor<16x1x3x3xi8>) -> tensor<16x1x3x3xf32>
//     %16 = nn.mul %15, %3 : (tensor<16x1x3x3xf32>, tensor<f32>) -> tensor<16x1x3x3xf32>
//     %17 = nn.conv2d %5, %16 {groups = 8 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x6x6xf32>, tensor<16x1x3x3xf32>) -> tensor<1x16x6x6xf32>
//     return %11, %14, %17 : tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>, tensor<1x16x6x6xf32>
//   }
// }
