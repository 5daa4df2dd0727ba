// RUN: optc --passes=integers
// The scales of a convolution of dequantized numbers, one for each channel of the filter, are one factor of
// its sums; the division by the result's scale goes into that factor and the bias, also past a relu.

func.func @main(%x: tensor<1x8x6x6xui8>) -> tensor<1x4x6x6xui8> {
  %w = nn.constant dense<3> : tensor<4x8x3x3xi8>
  %xz = nn.constant dense<128> : tensor<ui8>
  %xs = nn.constant dense<0.5> : tensor<f32>
  %ws = nn.constant dense<[0.5, 0.25, 1.0, 2.0]> : tensor<4xf32>
  %b = nn.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %ys = nn.constant dense<8.0> : tensor<f32>
  %yz = nn.constant dense<10.0> : tensor<f32>
  %0 = nn.cast %x {to = f32} : (tensor<1x8x6x6xui8>) -> tensor<1x8x6x6xf32>
  %1 = nn.cast %xz {to = f32} : (tensor<ui8>) -> tensor<f32>
  %2 = nn.sub %0, %1 : (tensor<1x8x6x6xf32>, tensor<f32>) -> tensor<1x8x6x6xf32>
  %3 = nn.mul %2, %xs : (tensor<1x8x6x6xf32>, tensor<f32>) -> tensor<1x8x6x6xf32>
  %4 = nn.cast %w {to = f32} : (tensor<4x8x3x3xi8>) -> tensor<4x8x3x3xf32>
  %5 = nn.reshape %ws {shape = array<i64: 4, 1, 1, 1>} : (tensor<4xf32>) -> tensor<4x1x1x1xf32>
  %6 = nn.mul %4, %5 : (tensor<4x8x3x3xf32>, tensor<4x1x1x1xf32>) -> tensor<4x8x3x3xf32>
  %7 = nn.conv2d %3, %6, %b {pads = array<i64: 1, 1, 1, 1>}
    : (tensor<1x8x6x6xf32>, tensor<4x8x3x3xf32>, tensor<4xf32>) -> tensor<1x4x6x6xf32>
  %8 = nn.relu %7 : tensor<1x4x6x6xf32>
  %9 = nn.div %8, %ys : (tensor<1x4x6x6xf32>, tensor<f32>) -> tensor<1x4x6x6xf32>
  %10 = nn.round %9 : tensor<1x4x6x6xf32>
  %11 = nn.add %10, %yz : (tensor<1x4x6x6xf32>, tensor<f32>) -> tensor<1x4x6x6xf32>
  %12 = nn.clip %11 {hi = 255.0 : f32, lo = 0.0 : f32} : tensor<1x4x6x6xf32>
  %13 = nn.cast %12 {to = ui8} : (tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xui8>
  return %13 : tensor<1x4x6x6xui8>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x8x6x6xui8>) -> tensor<1x4x6x6xui8> {
//     %0 = nn.constant dense<3> : tensor<4x8x3x3xi8>
//     %1 = nn.constant dense<128> : tensor<ui8>
//     %2 = nn.constant dense<5.000000e-01> : tensor<f32>
//     %3 = nn.constant dense<[5.000000e-01, 2.500000e-01, 1.000000e+00, 2.000000e+00]> : tensor<4xf32>
//     %4 = nn.constant dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]> : tensor<4xf32>
//     %5 = nn.constant dense<8.000000e+00> : tensor<f32>
//     %6 = nn.constant dense<1.000000e+01> : tensor<f32>
//     %7 = nn.reshape %3 {shape = array<i64: 4, 1, 1, 1>} : (tensor<4xf32>) -> tensor<4x1x1x1xf32>
//     %8 = nn.constant dense<0> : tensor<i8>
//     %9 = nn.quantized_conv2d %arg0, %0, %1, %8 {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x6x6xui8>, tensor<4x8x3x3xi8>, tensor<ui8>, tensor<i8>) -> tensor<1x4x6x6xi32>
//     %10 = nn.cast %9 {to = f32} : (tensor<1x4x6x6xi32>) -> tensor<1x4x6x6xf32>
//     %11 = nn.mul %2, %7 : (tensor<f32>, tensor<4x1x1x1xf32>) -> tensor<4x1x1x1xf32>
//     %12 = nn.reshape %11 {shape = array<i64: 4, 1, 1>} : (tensor<4x1x1x1xf32>) -> tensor<4x1x1xf32>
//     %13 = nn.reshape %4 {shape = array<i64: 4, 1, 1>} : (tensor<4xf32>) -> tensor<4x1x1xf32>
//     %14 = nn.div %12, %5 : (tensor<4x1x1xf32>, tensor<f32>) -> tensor<4x1x1xf32>
//     %15 = nn.div %13, %5 : (tensor<4x1x1xf32>, tensor<f32>) -> tensor<4x1x1xf32>
//     %16 = nn.mul %10, %14 : (tensor<1x4x6x6xf32>, tensor<4x1x1xf32>) -> tensor<1x4x6x6xf32>
//     %17 = nn.add %16, %15 : (tensor<1x4x6x6xf32>, tensor<4x1x1xf32>) -> tensor<1x4x6x6xf32>
//     %18 = nn.relu %17 : tensor<1x4x6x6xf32>
//     %19 = nn.round %18 : tensor<1x4x6x6xf32>
//     %20 = nn.add %19, %6 : (tensor<1x4x6x6xf32>, tensor<f32>) -> tensor<1x4x6x6xf32>
//     %21 = nn.clip %20 {hi = 2.550000e+02 : f32, lo = 0.000000e+00 : f32} : tensor<1x4x6x6xf32>
//     %22 = nn.cast %21 {to = ui8} : (tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xui8>
//     return %22 : tensor<1x4x6x6xui8>
//   }
// }
