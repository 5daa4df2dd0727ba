// RUN: optc --passes=integers
// A division goes into the factors only if these are known before the run: a scale and a bias that are
// computed from an argument are none, whatever weights they are computed with.

func.func @main(%x: tensor<2x16xui8>, %a: tensor<f32>, %d: tensor<4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %w = nn.constant dense<3> : tensor<16x4xi8>
  %s = nn.constant dense<0.5> : tensor<f32>
  %b = nn.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %q = nn.constant dense<2.0> : tensor<f32>
  %t = nn.mul %s, %a : tensor<f32>
  %c = nn.add %b, %d : tensor<4xf32>
  %0 = nn.cast %x {to = f32} : (tensor<2x16xui8>) -> tensor<2x16xf32>
  %1 = nn.mul %0, %t : (tensor<2x16xf32>, tensor<f32>) -> tensor<2x16xf32>
  %2 = nn.cast %w {to = f32} : (tensor<16x4xi8>) -> tensor<16x4xf32>
  %3 = nn.mul %2, %s : (tensor<16x4xf32>, tensor<f32>) -> tensor<16x4xf32>
  %4 = nn.matmul %1, %3 : (tensor<2x16xf32>, tensor<16x4xf32>) -> tensor<2x4xf32>
  %5 = nn.div %4, %q : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %6 = nn.cast %x {to = f32} : (tensor<2x16xui8>) -> tensor<2x16xf32>
  %7 = nn.mul %6, %s : (tensor<2x16xf32>, tensor<f32>) -> tensor<2x16xf32>
  %8 = nn.matmul %7, %3, %c : (tensor<2x16xf32>, tensor<16x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %9 = nn.div %8, %q : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  return %5, %9 : tensor<2x4xf32>, tensor<2x4xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<2x16xui8>, %arg1: tensor<f32>, %arg2: tensor<4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
//     %0 = nn.constant dense<3> : tensor<16x4xi8>
//     %1 = nn.constant dense<5.000000e-01> : tensor<f32>
//     %2 = nn.constant dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]> : tensor<4xf32>
//     %3 = nn.constant dense<2.000000e+00> : tensor<f32>
//     %4 = nn.mul %1, %arg1 : tensor<f32>
//     %5 = nn.add %2, %arg2 : tensor<4xf32>
//     %6 = nn.constant dense<0> : tensor<ui8>
//     %7 = nn.constant dense<0> : tensor<i8>
//     %8 = nn.quantized_matmul %arg0, %0, %6, %7 : (tensor<2x16xui8>, tensor<16x4xi8>, tensor<ui8>, tensor<i8>) -> tensor<2x4xi32>
//     %9 = nn.cast %8 {to = f32} : (tensor<2x4xi32>) -> tensor<2x4xf32>
//     %10 = nn.mul %4, %1 : tensor<f32>
//     %11 = nn.mul %9, %10 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
//     %12 = nn.div %11, %3 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
//     %13 = nn.constant dense<0> : tensor<ui8>
//     %14 = nn.constant dense<0> : tensor<i8>
//     %15 = nn.quantized_matmul %arg0, %0, %13, %14 : (tensor<2x16xui8>, tensor<16x4xi8>, tensor<ui8>, tensor<i8>) -> tensor<2x4xi32>
//     %16 = nn.cast %15 {to = f32} : (tensor<2x4xi32>) -> tensor<2x4xf32>
//     %17 = nn.mul %1, %1 : tensor<f32>
//     %18 = nn.mul %16, %17 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
//     %19 = nn.add %18, %5 : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
//     %20 = nn.div %19, %3 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
//     return %12, %20 : tensor<2x4xf32>, tensor<2x4xf32>
//   }
// }
