// RUN: optc --passes=integers
// The first operand of a quantized product has one zero point.

func.func @main(%x: tensor<2x16xui8>) -> tensor<2x4xf32> {
  %w = nn.constant dense<3> : tensor<16x4xi8>
  %xz = nn.constant dense<128> : tensor<2x1xui8>
  %xs = nn.constant dense<0.5> : tensor<f32>
  %ws = nn.constant dense<0.25> : tensor<f32>
  %0 = nn.cast %x {to = f32} : (tensor<2x16xui8>) -> tensor<2x16xf32>
  %1 = nn.cast %xz {to = f32} : (tensor<2x1xui8>) -> tensor<2x1xf32>
  %2 = nn.sub %0, %1 : (tensor<2x16xf32>, tensor<2x1xf32>) -> tensor<2x16xf32>
  %3 = nn.mul %2, %xs : (tensor<2x16xf32>, tensor<f32>) -> tensor<2x16xf32>
  %4 = nn.cast %w {to = f32} : (tensor<16x4xi8>) -> tensor<16x4xf32>
  %5 = nn.mul %4, %ws : (tensor<16x4xf32>, tensor<f32>) -> tensor<16x4xf32>
  %6 = nn.matmul %3, %5 : (tensor<2x16xf32>, tensor<16x4xf32>) -> tensor<2x4xf32>
  return %6 : tensor<2x4xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<2x16xui8>) -> tensor<2x4xf32> {
//     %0 = nn.constant dense<3> : tensor<16x4xi8>
//     %1 = nn.constant dense<128> : tensor<2x1xui8>
//     %2 = nn.constant dense<5.000000e-01> : tensor<f32>
//     %3 = nn.constant dense<2.500000e-01> : tensor<f32>
//     %4 = nn.cast %arg0 {to = f32} : (tensor<2x16xui8>) -> tensor<2x16xf32>
//     %5 = nn.cast %1 {to = f32} : (tensor<2x1xui8>) -> tensor<2x1xf32>
//     %6 = nn.sub %4, %5 : (tensor<2x16xf32>, tensor<2x1xf32>) -> tensor<2x16xf32>
//     %7 = nn.mul %6, %2 : (tensor<2x16xf32>, tensor<f32>) -> tensor<2x16xf32>
//     %8 = nn.cast %0 {to = f32} : (tensor<16x4xi8>) -> tensor<16x4xf32>
//     %9 = nn.mul %8, %3 : (tensor<16x4xf32>, tensor<f32>) -> tensor<16x4xf32>
//     %10 = nn.matmul %7, %9 : (tensor<2x16xf32>, tensor<16x4xf32>) -> tensor<2x4xf32>
//     return %10 : tensor<2x4xf32>
//   }
// }
