// RUN: optc --passes=integers
// Zero points of a filter's channels, one for each, as exporters reshape them.

func.func @main(%x: tensor<1x8x6x6xui8>) -> tensor<1x4x6x6xf32> {
  %w = nn.constant dense<3> : tensor<4x8x1x1xi8>
  %z = nn.constant dense<[0, 10, 20, 30]> : tensor<4xi8>
  %s = nn.constant dense<0.5> : tensor<f32>
  %0 = nn.cast %x {to = f32} : (tensor<1x8x6x6xui8>) -> tensor<1x8x6x6xf32>
  %1 = nn.mul %0, %s : (tensor<1x8x6x6xf32>, tensor<f32>) -> tensor<1x8x6x6xf32>
  %2 = nn.cast %z {to = f32} : (tensor<4xi8>) -> tensor<4xf32>
  %3 = nn.reshape %2 {shape = array<i64: 4, 1, 1, 1>} : (tensor<4xf32>) -> tensor<4x1x1x1xf32>
  %4 = nn.cast %w {to = f32} : (tensor<4x8x1x1xi8>) -> tensor<4x8x1x1xf32>
  %5 = nn.sub %4, %3 : (tensor<4x8x1x1xf32>, tensor<4x1x1x1xf32>) -> tensor<4x8x1x1xf32>
  %6 = nn.mul %5, %s : (tensor<4x8x1x1xf32>, tensor<f32>) -> tensor<4x8x1x1xf32>
  %7 = nn.conv2d %1, %6 : (tensor<1x8x6x6xf32>, tensor<4x8x1x1xf32>) -> tensor<1x4x6x6xf32>
  return %7 : tensor<1x4x6x6xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x8x6x6xui8>) -> tensor<1x4x6x6xf32> {
//     %0 = nn.constant dense<3> : tensor<4x8x1x1xi8>
//     %1 = nn.constant dense<[0, 10, 20, 30]> : tensor<4xi8>
//     %2 = nn.constant dense<5.000000e-01> : tensor<f32>
//     %3 = nn.constant dense<0> : tensor<ui8>
//     %4 = nn.quantized_conv2d %arg0, %0, %3, %1 : (tensor<1x8x6x6xui8>, tensor<4x8x1x1xi8>, tensor<ui8>, tensor<4xi8>) -> tensor<1x4x6x6xi32>
//     %5 = nn.cast %4 {to = f32} : (tensor<1x4x6x6xi32>) -> tensor<1x4x6x6xf32>
//     %6 = nn.mul %2, %2 : tensor<f32>
//     %7 = nn.mul %5, %6 : (tensor<1x4x6x6xf32>, tensor<f32>) -> tensor<1x4x6x6xf32>
//     return %7 : tensor<1x4x6x6xf32>
//   }
// }
