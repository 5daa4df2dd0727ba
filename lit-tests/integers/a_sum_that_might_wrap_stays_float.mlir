// RUN: optc --passes=integers
// A sum of integers wraps at 32 bits, which one of floats does not: 33,025 products of bytes never come to
// that.

func.func @main(%x: tensor<2x33026xui8>) -> tensor<2x4xf32> {
  %w = nn.constant dense<3> : tensor<33026x4xi8>
  %s = nn.constant dense<0.5> : tensor<f32>
  %0 = nn.cast %x {to = f32} : (tensor<2x33026xui8>) -> tensor<2x33026xf32>
  %1 = nn.mul %0, %s : (tensor<2x33026xf32>, tensor<f32>) -> tensor<2x33026xf32>
  %2 = nn.cast %w {to = f32} : (tensor<33026x4xi8>) -> tensor<33026x4xf32>
  %3 = nn.mul %2, %s : (tensor<33026x4xf32>, tensor<f32>) -> tensor<33026x4xf32>
  %4 = nn.matmul %1, %3 : (tensor<2x33026xf32>, tensor<33026x4xf32>) -> tensor<2x4xf32>
  return %4 : tensor<2x4xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<2x33026xui8>) -> tensor<2x4xf32> {
//     %0 = nn.constant dense<3> : tensor<33026x4xi8>
//     %1 = nn.constant dense<5.000000e-01> : tensor<f32>
//     %2 = nn.cast %arg0 {to = f32} : (tensor<2x33026xui8>) -> tensor<2x33026xf32>
//     %3 = nn.mul %2, %1 : (tensor<2x33026xf32>, tensor<f32>) -> tensor<2x33026xf32>
//     %4 = nn.cast %0 {to = f32} : (tensor<33026x4xi8>) -> tensor<33026x4xf32>
//     %5 = nn.mul %4, %1 : (tensor<33026x4xf32>, tensor<f32>) -> tensor<33026x4xf32>
//     %6 = nn.matmul %3, %5 : (tensor<2x33026xf32>, tensor<33026x4xf32>) -> tensor<2x4xf32>
//     return %6 : tensor<2x4xf32>
//   }
// }
