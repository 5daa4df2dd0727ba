// RUN: optc --passes=integers
// A product outside of a loop would be computed in each turn if it took the division inside.

func.func @main(%x: tensor<4x16xui8>, %n: index) -> tensor<4x8xf32> {
  %w = nn.constant dense<3> : tensor<16x8xi8>
  %s = nn.constant dense<0.5> : tensor<f32>
  %q = nn.constant dense<0.25> : tensor<f32>
  %i = nn.constant dense<0.0> : tensor<4x8xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = nn.cast %x {to = f32} : (tensor<4x16xui8>) -> tensor<4x16xf32>
  %3 = nn.mul %0, %s : (tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
  %4 = nn.cast %w {to = f32} : (tensor<16x8xi8>) -> tensor<16x8xf32>
  %6 = nn.mul %4, %s : (tensor<16x8xf32>, tensor<f32>) -> tensor<16x8xf32>
  %7 = nn.matmul %3, %6 : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  %8 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %i) -> (tensor<4x8xf32>) {
    %9 = nn.div %7, %q : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
    %10 = nn.add %acc, %9 : tensor<4x8xf32>
    scf.yield %10 : tensor<4x8xf32>
  }
  return %8 : tensor<4x8xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<4x16xui8>, %arg1: index) -> tensor<4x8xf32> {
//     %0 = nn.constant dense<3> : tensor<16x8xi8>
//     %1 = nn.constant dense<5.000000e-01> : tensor<f32>
//     %2 = nn.constant dense<2.500000e-01> : tensor<f32>
//     %3 = nn.constant dense<0.000000e+00> : tensor<4x8xf32>
//     %4 = arith.constant 0 : index
//     %5 = arith.constant 1 : index
//     %6 = nn.constant dense<0> : tensor<ui8>
//     %7 = nn.constant dense<0> : tensor<i8>
//     %8 = nn.quantized_matmul %arg0, %0, %6, %7 : (tensor<4x16xui8>, tensor<16x8xi8>, tensor<ui8>, tensor<i8>) -> tensor<4x8xi32>
//     %9 = nn.cast %8 {to = f32} : (tensor<4x8xi32>) -> tensor<4x8xf32>
//     %10 = nn.mul %1, %1 : tensor<f32>
//     %11 = nn.mul %9, %10 : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
//     %12 = scf.for %arg2 = %4 to %arg1 step %5 iter_args(%arg3 = %3) -> (tensor<4x8xf32>) {
//       %13 = nn.div %11, %2 : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
//       %14 = nn.add %arg3, %13 : tensor<4x8xf32>
//       scf.yield %14 : tensor<4x8xf32>
//     }
//     return %12 : tensor<4x8xf32>
//   }
// }
