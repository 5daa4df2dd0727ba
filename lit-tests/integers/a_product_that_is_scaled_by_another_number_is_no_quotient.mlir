// RUN: optc --passes=integers
// Only divisions are folded into the factors: what multiplies the result, or is taken from it, is not.

func.func @main(%x: tensor<2x16xui8>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %w = nn.constant dense<3> : tensor<16x4xi8>
  %s = nn.constant dense<0.5> : tensor<f32>
  %q = nn.constant dense<2.0> : tensor<f32>
  %0 = nn.cast %x {to = f32} : (tensor<2x16xui8>) -> tensor<2x16xf32>
  %1 = nn.mul %0, %s : (tensor<2x16xf32>, tensor<f32>) -> tensor<2x16xf32>
  %2 = nn.cast %w {to = f32} : (tensor<16x4xi8>) -> tensor<16x4xf32>
  %3 = nn.mul %2, %s : (tensor<16x4xf32>, tensor<f32>) -> tensor<16x4xf32>
  %4 = nn.matmul %1, %3 : (tensor<2x16xf32>, tensor<16x4xf32>) -> tensor<2x4xf32>
  %5 = nn.mul %4, %q : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %6 = nn.matmul %1, %3 : (tensor<2x16xf32>, tensor<16x4xf32>) -> tensor<2x4xf32>
  %7 = nn.relu %6 : tensor<2x4xf32>
  %8 = nn.sub %7, %q : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  return %5, %8 : tensor<2x4xf32>, tensor<2x4xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<2x16xui8>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
//     %0 = nn.constant dense<3> : tensor<16x4xi8>
//     %1 = nn.constant dense<5.000000e-01> : tensor<f32>
//     %2 = nn.constant dense<2.000000e+00> : tensor<f32>
//     %3 = nn.constant dense<0> : tensor<ui8>
//     %4 = nn.constant dense<0> : tensor<i8>
//     %5 = nn.quantized_matmul %arg0, %0, %3, %4 : (tensor<2x16xui8>, tensor<16x4xi8>, tensor<ui8>, tensor<i8>) -> tensor<2x4xi32>
//     %6 = nn.cast %5 {to = f32} : (tensor<2x4xi32>) -> tensor<2x4xf32>
//     %7 = nn.mul %1, %1 : tensor<f32>
//     %8 = nn.mul %6, %7 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
//     %9 = nn.mul %8, %2 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
//     %10 = nn.constant dense<0> : tensor<ui8>
//     %11 = nn.constant dense<0> : tensor<i8>
//     %12 = nn.quantized_matmul %arg0, %0, %10, %11 : (tensor<2x16xui8>, tensor<16x4xi8>, tensor<ui8>, tensor<i8>) -> tensor<2x4xi32>
//     %13 = nn.cast %12 {to = f32} : (tensor<2x4xi32>) -> tensor<2x4xf32>
//     %14 = nn.mul %1, %1 : tensor<f32>
//     %15 = nn.mul %13, %14 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
//     %16 = nn.relu %15 : tensor<2x4xf32>
//     %17 = nn.sub %16, %2 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
//     return %9, %17 : tensor<2x4xf32>, tensor<2x4xf32>
//   }
// }
