// RUN: optc --passes=integers
// A product of integers has no form whose first operand is turned, whose second one is a stack of matrices,
// or that multiplies one row without a second axis.

func.func @main(%x: tensor<16x2xui8>, %y: tensor<3x2x16xui8>, %r: tensor<16xui8>)
    -> (tensor<2x4xf32>, tensor<3x2x4xf32>, tensor<4xf32>) {
  %w = nn.constant dense<3> : tensor<16x4xi8>
  %v = nn.constant dense<3> : tensor<3x16x4xi8>
  %s = nn.constant dense<0.5> : tensor<f32>
  %0 = nn.cast %x {to = f32} : (tensor<16x2xui8>) -> tensor<16x2xf32>
  %1 = nn.mul %0, %s : (tensor<16x2xf32>, tensor<f32>) -> tensor<16x2xf32>
  %2 = nn.cast %w {to = f32} : (tensor<16x4xi8>) -> tensor<16x4xf32>
  %3 = nn.mul %2, %s : (tensor<16x4xf32>, tensor<f32>) -> tensor<16x4xf32>
  %4 = nn.matmul %1, %3 {transpose_a} : (tensor<16x2xf32>, tensor<16x4xf32>) -> tensor<2x4xf32>
  %5 = nn.cast %y {to = f32} : (tensor<3x2x16xui8>) -> tensor<3x2x16xf32>
  %6 = nn.mul %5, %s : (tensor<3x2x16xf32>, tensor<f32>) -> tensor<3x2x16xf32>
  %7 = nn.cast %v {to = f32} : (tensor<3x16x4xi8>) -> tensor<3x16x4xf32>
  %8 = nn.mul %7, %s : (tensor<3x16x4xf32>, tensor<f32>) -> tensor<3x16x4xf32>
  %9 = nn.matmul %6, %8 : (tensor<3x2x16xf32>, tensor<3x16x4xf32>) -> tensor<3x2x4xf32>
  %10 = nn.cast %r {to = f32} : (tensor<16xui8>) -> tensor<16xf32>
  %11 = nn.mul %10, %s : (tensor<16xf32>, tensor<f32>) -> tensor<16xf32>
  %12 = nn.matmul %11, %3 : (tensor<16xf32>, tensor<16x4xf32>) -> tensor<4xf32>
  return %4, %9, %12 : tensor<2x4xf32>, tensor<3x2x4xf32>, tensor<4xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<16x2xui8>, %arg1: tensor<3x2x16xui8>, %arg2: tensor<16xui8>) -> (tensor<2x4xf32>, tensor<3x2x4xf32>, tensor<4xf32>) {
//     %0 = nn.constant dense<3> : tensor<16x4xi8>
//     %1 = nn.constant dense<3> : tensor<3x16x4xi8>
//     %2 = nn.constant dense<5.000000e-01> : tensor<f32>
//     %3 = nn.cast %arg0 {to = f32} : (tensor<16x2xui8>) -> tensor<16x2xf32>
//     %4 = nn.mul %3, %2 : (tensor<16x2xf32>, tensor<f32>) -> tensor<16x2xf32>
//     %5 = nn.cast %0 {to = f32} : (tensor<16x4xi8>) -> tensor<16x4xf32>
//     %6 = nn.mul %5, %2 : (tensor<16x4xf32>, tensor<f32>) -> tensor<16x4xf32>
//     %7 = nn.matmul %4, %6 {transpose_a} : (tensor<16x2xf32>, tensor<16x4xf32>) -> tensor<2x4xf32>
//     %8 = nn.cast %arg1 {to = f32} : (tensor<3x2x16xui8>) -> tensor<3x2x16xf32>
//     %9 = nn.mul %8, %2 : (tensor<3x2x16xf32>, tensor<f32>) -> tensor<3x2x16xf32>
//     %10 = nn.cast %1 {to = f32} : (tensor<3x16x4xi8>) -> tensor<3x16x4xf32>
//     %11 = nn.mul %10, %2 : (tensor<3x16x4xf32>, tensor<f32>) -> tensor<3x16x4xf32>
//     %12 = nn.matmul %9, %11 : (tensor<3x2x16xf32>, tensor<3x16x4xf32>) -> tensor<3x2x4xf32>
//     %13 = nn.cast %arg2 {to = f32} : (tensor<16xui8>) -> tensor<16xf32>
//     %14 = nn.mul %13, %2 : (tensor<16xf32>, tensor<f32>) -> tensor<16xf32>
//     %15 = nn.matmul %14, %6 : (tensor<16xf32>, tensor<16x4xf32>) -> tensor<4xf32>
//     return %7, %12, %15 : tensor<2x4xf32>, tensor<3x2x4xf32>, tensor<4xf32>
//   }
// }
