// RUN: optc --passes=integers
// Kernels multiply integers of 8 bits: those of 16 and of 32 bits, and truth values, are multiplied as floats.

func.func @main(%x: tensor<2x16xi16>, %y: tensor<2x16xi32>, %z: tensor<2x16xi1>)
    -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) {
  %w = nn.constant dense<3> : tensor<16x4xi8>
  %s = nn.constant dense<0.5> : tensor<f32>
  %0 = nn.cast %w {to = f32} : (tensor<16x4xi8>) -> tensor<16x4xf32>
  %1 = nn.mul %0, %s : (tensor<16x4xf32>, tensor<f32>) -> tensor<16x4xf32>
  %2 = nn.cast %x {to = f32} : (tensor<2x16xi16>) -> tensor<2x16xf32>
  %3 = nn.mul %2, %s : (tensor<2x16xf32>, tensor<f32>) -> tensor<2x16xf32>
  %4 = nn.matmul %3, %1 : (tensor<2x16xf32>, tensor<16x4xf32>) -> tensor<2x4xf32>
  %5 = nn.cast %y {to = f32} : (tensor<2x16xi32>) -> tensor<2x16xf32>
  %6 = nn.mul %5, %s : (tensor<2x16xf32>, tensor<f32>) -> tensor<2x16xf32>
  %7 = nn.matmul %6, %1 : (tensor<2x16xf32>, tensor<16x4xf32>) -> tensor<2x4xf32>
  %8 = nn.cast %z {to = f32} : (tensor<2x16xi1>) -> tensor<2x16xf32>
  %9 = nn.mul %8, %s : (tensor<2x16xf32>, tensor<f32>) -> tensor<2x16xf32>
  %10 = nn.matmul %9, %1 : (tensor<2x16xf32>, tensor<16x4xf32>) -> tensor<2x4xf32>
  return %4, %7, %10 : tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<2x16xi16>, %arg1: tensor<2x16xi32>, %arg2: tensor<2x16xi1>) -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) {
//     %0 = nn.constant dense<3> : tensor<16x4xi8>
//     %1 = nn.constant dense<5.000000e-01> : tensor<f32>
//     %2 = nn.cast %0 {to = f32} : (tensor<16x4xi8>) -> tensor<16x4xf32>
//     %3 = nn.mul %2, %1 : (tensor<16x4xf32>, tensor<f32>) -> tensor<16x4xf32>
//     %4 = nn.cast %arg0 {to = f32} : (tensor<2x16xi16>) -> tensor<2x16xf32>
//     %5 = nn.mul %4, %1 : (tensor<2x16xf32>, tensor<f32>) -> tensor<2x16xf32>
//     %6 = nn.matmul %5, %3 : (tensor<2x16xf32>, tensor<16x4xf32>) -> tensor<2x4xf32>
//     %7 = nn.cast %arg1 {to = f32} : (tensor<2x16xi32>) -> tensor<2x16xf32>
//     %8 = nn.mul %7, %1 : (tensor<2x16xf32>, tensor<f32>) -> tensor<2x16xf32>
//     %9 = nn.matmul %8, %3 : (tensor<2x16xf32>, tensor<16x4xf32>) -> tensor<2x4xf32>
//     %10 = nn.cast %arg2 {to = f32} : (tensor<2x16xi1>) -> tensor<2x16xf32>
//     %11 = nn.mul %10, %1 : (tensor<2x16xf32>, tensor<f32>) -> tensor<2x16xf32>
//     %12 = nn.matmul %11, %3 : (tensor<2x16xf32>, tensor<16x4xf32>) -> tensor<2x4xf32>
//     return %6, %9, %12 : tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>
//   }
// }
