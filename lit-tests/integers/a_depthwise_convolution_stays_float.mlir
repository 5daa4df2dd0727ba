// RUN: optc --passes=integers
// Groups of few channels have kernels of floats only.

func.func @main(%x: tensor<1x8x6x6xui8>) -> tensor<1x8x6x6xf32> {
  %w = nn.constant dense<3> : tensor<8x1x3x3xi8>
  %s = nn.constant dense<0.5> : tensor<f32>
  %0 = nn.cast %x {to = f32} : (tensor<1x8x6x6xui8>) -> tensor<1x8x6x6xf32>
  %1 = nn.mul %0, %s : (tensor<1x8x6x6xf32>, tensor<f32>) -> tensor<1x8x6x6xf32>
  %2 = nn.cast %w {to = f32} : (tensor<8x1x3x3xi8>) -> tensor<8x1x3x3xf32>
  %3 = nn.mul %2, %s : (tensor<8x1x3x3xf32>, tensor<f32>) -> tensor<8x1x3x3xf32>
  %4 = nn.conv2d %1, %3 {groups = 8 : i64, pads = array<i64: 1, 1, 1, 1>}
    : (tensor<1x8x6x6xf32>, tensor<8x1x3x3xf32>) -> tensor<1x8x6x6xf32>
  return %4 : tensor<1x8x6x6xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x8x6x6xui8>) -> tensor<1x8x6x6xf32> {
//     %0 = nn.constant dense<3> : tensor<8x1x3x3xi8>
//     %1 = nn.constant dense<5.000000e-01> : tensor<f32>
//     %2 = nn.cast %arg0 {to = f32} : (tensor<1x8x6x6xui8>) -> tensor<1x8x6x6xf32>
//     %3 = nn.mul %2, %1 : (tensor<1x8x6x6xf32>, tensor<f32>) -> tensor<1x8x6x6xf32>
//     %4 = nn.cast %0 {to = f32} : (tensor<8x1x3x3xi8>) -> tensor<8x1x3x3xf32>
//     %5 = nn.mul %4, %1 : (tensor<8x1x3x3xf32>, tensor<f32>) -> tensor<8x1x3x3xf32>
//     %6 = nn.conv2d %3, %5 {groups = 8 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x6x6xf32>, tensor<8x1x3x3xf32>) -> tensor<1x8x6x6xf32>
//     return %6 : tensor<1x8x6x6xf32>
//   }
// }
