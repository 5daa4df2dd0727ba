// RUN: optc --passes=integers
// A scale may be computed, as where inputs are quantized while the program runs; columns have scales of their
// own.

func.func @main(%x: tensor<2x16xui8>, %xs: tensor<f32>) -> tensor<2x4xf32> {
  %w = nn.constant dense<3> : tensor<16x4xi8>
  %xz = nn.constant dense<128> : tensor<ui8>
  %ws = nn.constant dense<[0.5, 0.25, 1.0, 2.0]> : tensor<4xf32>
  %0 = nn.cast %x {to = f32} : (tensor<2x16xui8>) -> tensor<2x16xf32>
  %1 = nn.cast %xz {to = f32} : (tensor<ui8>) -> tensor<f32>
  %2 = nn.sub %0, %1 : (tensor<2x16xf32>, tensor<f32>) -> tensor<2x16xf32>
  %3 = nn.mul %2, %xs : (tensor<2x16xf32>, tensor<f32>) -> tensor<2x16xf32>
  %4 = nn.cast %w {to = f32} : (tensor<16x4xi8>) -> tensor<16x4xf32>
  %5 = nn.mul %4, %ws : (tensor<16x4xf32>, tensor<4xf32>) -> tensor<16x4xf32>
  %6 = nn.matmul %3, %5 : (tensor<2x16xf32>, tensor<16x4xf32>) -> tensor<2x4xf32>
  return %6 : tensor<2x4xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<2x16xui8>, %arg1: tensor<f32>) -> tensor<2x4xf32> {
//     %0 = nn.constant dense<3> : tensor<16x4xi8>
//     %1 = nn.constant dense<128> : tensor<ui8>
//     %2 = nn.constant dense<[5.000000e-01, 2.500000e-01, 1.000000e+00, 2.000000e+00]> : tensor<4xf32>
//     %3 = nn.constant dense<0> : tensor<i8>
//     %4 = nn.quantized_matmul %arg0, %0, %1, %3 : (tensor<2x16xui8>, tensor<16x4xi8>, tensor<ui8>, tensor<i8>) -> tensor<2x4xi32>
//     %5 = nn.cast %4 {to = f32} : (tensor<2x4xi32>) -> tensor<2x4xf32>
//     %6 = nn.mul %arg1, %2 : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
//     %7 = nn.mul %5, %6 : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
//     return %7 : tensor<2x4xf32>
//   }
// }
