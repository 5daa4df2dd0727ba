// RUN: optc --passes=integers
// Something else reads each dividend before its division does, so the products are made once and not divided
// by their factors.

func.func @main(%x: tensor<2x16xui8>) -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) {
  %w = nn.constant dense<3> : tensor<16x4xi8>
  %s = nn.constant dense<0.5> : tensor<f32>
  %q = nn.constant dense<2.0> : tensor<f32>
  %0 = nn.cast %x {to = f32} : (tensor<2x16xui8>) -> tensor<2x16xf32>
  %1 = nn.mul %0, %s : (tensor<2x16xf32>, tensor<f32>) -> tensor<2x16xf32>
  %2 = nn.cast %w {to = f32} : (tensor<16x4xi8>) -> tensor<16x4xf32>
  %3 = nn.mul %2, %s : (tensor<16x4xf32>, tensor<f32>) -> tensor<16x4xf32>
  %4 = nn.matmul %1, %3 : (tensor<2x16xf32>, tensor<16x4xf32>) -> tensor<2x4xf32>
  %5 = nn.exp %4 : tensor<2x4xf32>
  %6 = nn.div %4, %q : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %7 = nn.matmul %1, %3 : (tensor<2x16xf32>, tensor<16x4xf32>) -> tensor<2x4xf32>
  %8 = nn.relu %7 : tensor<2x4xf32>
  %9 = nn.exp %8 : tensor<2x4xf32>
  %10 = nn.div %8, %q : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  return %5, %6, %9, %10 : tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<2x16xui8>) -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) {
//     %0 = nn.constant dense<3> : tensor<16x4xi8>
//     %1 = nn.constant dense<5.000000e-01> : tensor<f32>
//     %2 = nn.constant dense<2.000000e+00> : tensor<f32>
//     %3 = nn.constant dense<0> : tensor<ui8>
//     %4 = nn.constant dense<0> : tensor<i8>
//     %5 = nn.quantized_matmul %arg0, %0, %3, %4 : (tensor<2x16xui8>, tensor<16x4xi8>, tensor<ui8>, tensor<i8>) -> tensor<2x4xi32>
//     %6 = nn.cast %5 {to = f32} : (tensor<2x4xi32>) -> tensor<2x4xf32>
//     %7 = nn.mul %1, %1 : tensor<f32>
//     %8 = nn.mul %6, %7 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
//     %9 = nn.exp %8 : tensor<2x4xf32>
//     %10 = nn.div %8, %2 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
//     %11 = nn.constant dense<0> : tensor<ui8>
//     %12 = nn.constant dense<0> : tensor<i8>
//     %13 = nn.quantized_matmul %arg0, %0, %11, %12 : (tensor<2x16xui8>, tensor<16x4xi8>, tensor<ui8>, tensor<i8>) -> tensor<2x4xi32>
//     %14 = nn.cast %13 {to = f32} : (tensor<2x4xi32>) -> tensor<2x4xf32>
//     %15 = nn.mul %1, %1 : tensor<f32>
//     %16 = nn.mul %14, %15 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
//     %17 = nn.relu %16 : tensor<2x4xf32>
//     %18 = nn.exp %17 : tensor<2x4xf32>
//     %19 = nn.div %17, %2 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
//     return %9, %10, %18, %19 : tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>
//   }
// }
