// RUN: optc --passes=integers
// A channel whose weights are all zero may have a scale of zero, which loses no digits.

func.func @main(%x: tensor<2x16xui8>) -> tensor<2x4xf32> {
  %w = nn.constant dense<3> : tensor<16x4xi8>
  %s = nn.constant dense<0.5> : tensor<f32>
  %t = nn.constant dense<[0.5, 0.0, 1.0, 2.0]> : tensor<4xf32>
  %0 = nn.cast %x {to = f32} : (tensor<2x16xui8>) -> tensor<2x16xf32>
  %1 = nn.mul %0, %s : (tensor<2x16xf32>, tensor<f32>) -> tensor<2x16xf32>
  %2 = nn.cast %w {to = f32} : (tensor<16x4xi8>) -> tensor<16x4xf32>
  %3 = nn.mul %2, %t : (tensor<16x4xf32>, tensor<4xf32>) -> tensor<16x4xf32>
  %4 = nn.matmul %1, %3 : (tensor<2x16xf32>, tensor<16x4xf32>) -> tensor<2x4xf32>
  return %4 : tensor<2x4xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<2x16xui8>) -> tensor<2x4xf32> {
//     %0 = nn.constant dense<3> : tensor<16x4xi8>
//     %1 = nn.constant dense<5.000000e-01> : tensor<f32>
//     %2 = nn.constant dense<[5.000000e-01, 0.000000e+00, 1.000000e+00, 2.000000e+00]> : tensor<4xf32>
//     %3 = nn.constant dense<0> : tensor<ui8>
//     %4 = nn.constant dense<0> : tensor<i8>
//     %5 = nn.quantized_matmul %arg0, %0, %3, %4 : (tensor<2x16xui8>, tensor<16x4xi8>, tensor<ui8>, tensor<i8>) -> tensor<2x4xi32>
//     %6 = nn.cast %5 {to = f32} : (tensor<2x4xi32>) -> tensor<2x4xf32>
//     %7 = nn.mul %1, %2 : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
//     %8 = nn.mul %6, %7 : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
//     return %8 : tensor<2x4xf32>
//   }
// }
