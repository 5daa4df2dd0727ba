// RUN: optc --passes=integers
// Only sums of two dequantized numbers are divided before they are added: the greater of two is not.

func.func @main(%x: tensor<2x16xui8>, %r: tensor<2x4xui8>) -> tensor<2x4xui8> {
  %w = nn.constant dense<3> : tensor<16x4xi8>
  %z = nn.constant dense<128> : tensor<ui8>
  %s = nn.constant dense<0.5> : tensor<f32>
  %q = nn.constant dense<2.0> : tensor<f32>
  %p = nn.constant dense<7.0> : tensor<f32>
  %0 = nn.cast %x {to = f32} : (tensor<2x16xui8>) -> tensor<2x16xf32>
  %1 = nn.cast %z {to = f32} : (tensor<ui8>) -> tensor<f32>
  %2 = nn.sub %0, %1 : (tensor<2x16xf32>, tensor<f32>) -> tensor<2x16xf32>
  %3 = nn.mul %2, %s : (tensor<2x16xf32>, tensor<f32>) -> tensor<2x16xf32>
  %4 = nn.cast %w {to = f32} : (tensor<16x4xi8>) -> tensor<16x4xf32>
  %5 = nn.mul %4, %s : (tensor<16x4xf32>, tensor<f32>) -> tensor<16x4xf32>
  %6 = nn.matmul %3, %5 : (tensor<2x16xf32>, tensor<16x4xf32>) -> tensor<2x4xf32>
  %7 = nn.div %6, %q : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %8 = nn.round %7 : tensor<2x4xf32>
  %9 = nn.add %8, %p : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %10 = nn.cast %9 {to = ui8} : (tensor<2x4xf32>) -> tensor<2x4xui8>
  %11 = nn.cast %10 {to = f32} : (tensor<2x4xui8>) -> tensor<2x4xf32>
  %12 = nn.sub %11, %p : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %13 = nn.mul %12, %q : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %14 = nn.cast %r {to = f32} : (tensor<2x4xui8>) -> tensor<2x4xf32>
  %15 = nn.mul %14, %s : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %16 = nn.max %13, %15 : tensor<2x4xf32>
  %17 = nn.relu %16 : tensor<2x4xf32>
  %18 = nn.div %17, %q : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %19 = nn.round %18 : tensor<2x4xf32>
  %20 = nn.cast %19 {to = ui8} : (tensor<2x4xf32>) -> tensor<2x4xui8>
  return %20 : tensor<2x4xui8>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<2x16xui8>, %arg1: tensor<2x4xui8>) -> tensor<2x4xui8> {
//     %0 = nn.constant dense<3> : tensor<16x4xi8>
//     %1 = nn.constant dense<128> : tensor<ui8>
//     %2 = nn.constant dense<5.000000e-01> : tensor<f32>
//     %3 = nn.constant dense<2.000000e+00> : tensor<f32>
//     %4 = nn.constant dense<7.000000e+00> : tensor<f32>
//     %5 = nn.constant dense<0> : tensor<i8>
//     %6 = nn.quantized_matmul %arg0, %0, %1, %5 : (tensor<2x16xui8>, tensor<16x4xi8>, tensor<ui8>, tensor<i8>) -> tensor<2x4xi32>
//     %7 = nn.cast %6 {to = f32} : (tensor<2x4xi32>) -> tensor<2x4xf32>
//     %8 = nn.mul %2, %2 : tensor<f32>
//     %9 = nn.div %8, %3 : tensor<f32>
//     %10 = nn.mul %7, %9 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
//     %11 = nn.round %10 : tensor<2x4xf32>
//     %12 = nn.add %11, %4 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
//     %13 = nn.cast %12 {to = ui8} : (tensor<2x4xf32>) -> tensor<2x4xui8>
//     %14 = nn.cast %13 {to = f32} : (tensor<2x4xui8>) -> tensor<2x4xf32>
//     %15 = nn.sub %14, %4 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
//     %16 = nn.mul %15, %3 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
//     %17 = nn.cast %arg1 {to = f32} : (tensor<2x4xui8>) -> tensor<2x4xf32>
//     %18 = nn.mul %17, %2 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
//     %19 = nn.max %16, %18 : tensor<2x4xf32>
//     %20 = nn.relu %19 : tensor<2x4xf32>
//     %21 = nn.div %20, %3 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
//     %22 = nn.round %21 : tensor<2x4xf32>
//     %23 = nn.cast %22 {to = ui8} : (tensor<2x4xf32>) -> tensor<2x4xui8>
//     return %23 : tensor<2x4xui8>
//   }
// }
