// RUN: optc --passes=integers
// What divides a product, or a sum of two, may stand after it: the rewritten one stands where the division
// does.

func.func @main(%x: tensor<2x16xui8>, %r: tensor<2x4xui8>) -> tensor<2x4xui8> {
  %w = nn.constant dense<3> : tensor<16x4xi8>
  %s = nn.constant dense<0.5> : tensor<f32>
  %0 = nn.cast %x {to = f32} : (tensor<2x16xui8>) -> tensor<2x16xf32>
  %1 = nn.mul %0, %s : (tensor<2x16xf32>, tensor<f32>) -> tensor<2x16xf32>
  %2 = nn.cast %w {to = f32} : (tensor<16x4xi8>) -> tensor<16x4xf32>
  %3 = nn.mul %2, %s : (tensor<16x4xf32>, tensor<f32>) -> tensor<16x4xf32>
  %4 = nn.matmul %1, %3 : (tensor<2x16xf32>, tensor<16x4xf32>) -> tensor<2x4xf32>
  %5 = nn.relu %4 : tensor<2x4xf32>
  %q = nn.constant dense<2.0> : tensor<f32>
  %6 = nn.div %5, %q : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %7 = nn.cast %6 {to = ui8} : (tensor<2x4xf32>) -> tensor<2x4xui8>
  %8 = nn.cast %7 {to = f32} : (tensor<2x4xui8>) -> tensor<2x4xf32>
  %9 = nn.mul %q, %8 : (tensor<f32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %10 = nn.cast %r {to = f32} : (tensor<2x4xui8>) -> tensor<2x4xf32>
  %11 = nn.mul %s, %10 : (tensor<f32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %12 = nn.add %9, %11 : tensor<2x4xf32>
  %p = nn.constant dense<4.0> : tensor<f32>
  %13 = nn.div %12, %p : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %14 = nn.cast %13 {to = ui8} : (tensor<2x4xf32>) -> tensor<2x4xui8>
  return %14 : tensor<2x4xui8>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<2x16xui8>, %arg1: tensor<2x4xui8>) -> tensor<2x4xui8> {
//     %0 = nn.constant dense<3> : tensor<16x4xi8>
//     %1 = nn.constant dense<5.000000e-01> : tensor<f32>
//     %2 = nn.constant dense<2.000000e+00> : tensor<f32>
//     %3 = nn.constant dense<0> : tensor<ui8>
//     %4 = nn.constant dense<0> : tensor<i8>
//     %5 = nn.quantized_matmul %arg0, %0, %3, %4 : (tensor<2x16xui8>, tensor<16x4xi8>, tensor<ui8>, tensor<i8>) -> tensor<2x4xi32>
//     %6 = nn.cast %5 {to = f32} : (tensor<2x4xi32>) -> tensor<2x4xf32>
//     %7 = nn.mul %1, %1 : tensor<f32>
//     %8 = nn.div %7, %2 : tensor<f32>
//     %9 = nn.mul %6, %8 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
//     %10 = nn.relu %9 : tensor<2x4xf32>
//     %11 = nn.cast %10 {to = ui8} : (tensor<2x4xf32>) -> tensor<2x4xui8>
//     %12 = nn.cast %11 {to = f32} : (tensor<2x4xui8>) -> tensor<2x4xf32>
//     %13 = nn.cast %arg1 {to = f32} : (tensor<2x4xui8>) -> tensor<2x4xf32>
//     %14 = nn.constant dense<4.000000e+00> : tensor<f32>
//     %15 = nn.div %2, %14 : tensor<f32>
//     %16 = nn.mul %12, %15 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
//     %17 = nn.div %1, %14 : tensor<f32>
//     %18 = nn.mul %13, %17 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
//     %19 = nn.add %16, %18 : tensor<2x4xf32>
//     %20 = nn.cast %19 {to = ui8} : (tensor<2x4xf32>) -> tensor<2x4xui8>
//     return %20 : tensor<2x4xui8>
//   }
// }
