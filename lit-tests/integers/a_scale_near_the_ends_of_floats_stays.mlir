// RUN: optc --passes=integers
// The product of two such scales would have lost its digits.

func.func @main(%x: tensor<2x16xui8>) -> tensor<2x4xf32> {
  %w = nn.constant dense<3> : tensor<16x4xi8>
  %s = nn.constant dense<1.0e-20> : tensor<f32>
  %0 = nn.cast %x {to = f32} : (tensor<2x16xui8>) -> tensor<2x16xf32>
  %1 = nn.mul %0, %s : (tensor<2x16xf32>, tensor<f32>) -> tensor<2x16xf32>
  %2 = nn.cast %w {to = f32} : (tensor<16x4xi8>) -> tensor<16x4xf32>
  %3 = nn.mul %2, %s : (tensor<16x4xf32>, tensor<f32>) -> tensor<16x4xf32>
  %4 = nn.matmul %1, %3 : (tensor<2x16xf32>, tensor<16x4xf32>) -> tensor<2x4xf32>
  return %4 : tensor<2x4xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<2x16xui8>) -> tensor<2x4xf32> {
//     %0 = nn.constant dense<3> : tensor<16x4xi8>
//     %1 = nn.constant dense<9.99999968E-21> : tensor<f32>
//     %2 = nn.cast %arg0 {to = f32} : (tensor<2x16xui8>) -> tensor<2x16xf32>
//     %3 = nn.mul %2, %1 : (tensor<2x16xf32>, tensor<f32>) -> tensor<2x16xf32>
//     %4 = nn.cast %0 {to = f32} : (tensor<16x4xi8>) -> tensor<16x4xf32>
//     %5 = nn.mul %4, %1 : (tensor<16x4xf32>, tensor<f32>) -> tensor<16x4xf32>
//     %6 = nn.matmul %3, %5 : (tensor<2x16xf32>, tensor<16x4xf32>) -> tensor<2x4xf32>
//     return %6 : tensor<2x4xf32>
//   }
// }
