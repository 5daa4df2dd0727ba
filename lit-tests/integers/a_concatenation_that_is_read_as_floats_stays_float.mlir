// RUN: optc --passes=integers
// A concatenation whose floats are read, one of which not all parts were bytes, and one that is divided by
// numbers for each channel, are concatenations of floats.

func.func @main(%x: tensor<1x2x3x3xui8>, %f: tensor<1x2x3x3xf32>) -> (tensor<1x4x3x3xf32>, tensor<1x4x3x3xui8>, tensor<1x4x3x3xui8>, tensor<1x4x3x3xui8>) {
  %s = nn.constant dense<0.5> : tensor<f32>
  %c = nn.constant dense<[[[0.5]], [[0.25]], [[1.0]], [[2.0]]]> : tensor<4x1x1xf32>
  %0 = nn.cast %x {to = f32} : (tensor<1x2x3x3xui8>) -> tensor<1x2x3x3xf32>
  %1 = nn.mul %0, %s : (tensor<1x2x3x3xf32>, tensor<f32>) -> tensor<1x2x3x3xf32>
  %2 = nn.concat %1, %1 {axis = 1 : i64} : (tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>) -> tensor<1x4x3x3xf32>
  %3 = nn.round %2 : tensor<1x4x3x3xf32>
  %4 = nn.cast %3 {to = ui8} : (tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xui8>
  %5 = nn.concat %1, %f {axis = 1 : i64} : (tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>) -> tensor<1x4x3x3xf32>
  %6 = nn.round %5 : tensor<1x4x3x3xf32>
  %7 = nn.cast %6 {to = ui8} : (tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xui8>
  %8 = nn.concat %1, %1 {axis = 1 : i64} : (tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>) -> tensor<1x4x3x3xf32>
  %9 = nn.div %8, %c : (tensor<1x4x3x3xf32>, tensor<4x1x1xf32>) -> tensor<1x4x3x3xf32>
  %10 = nn.round %9 : tensor<1x4x3x3xf32>
  %11 = nn.cast %10 {to = ui8} : (tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xui8>
  return %2, %4, %7, %11 : tensor<1x4x3x3xf32>, tensor<1x4x3x3xui8>, tensor<1x4x3x3xui8>, tensor<1x4x3x3xui8>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x2x3x3xui8>, %arg1: tensor<1x2x3x3xf32>) -> (tensor<1x4x3x3xf32>, tensor<1x4x3x3xui8>, tensor<1x4x3x3xui8>, tensor<1x4x3x3xui8>) {
//     %0 = nn.constant dense<5.000000e-01> : tensor<f32>
//     %1 = nn.constant dense<[[[5.000000e-01]], [[2.500000e-01]], [[1.000000e+00]], [[2.000000e+00]]]> : tensor<4x1x1xf32>
//     %2 = nn.cast %arg0 {to = f32} : (tensor<1x2x3x3xui8>) -> tensor<1x2x3x3xf32>
//     %3 = nn.mul %2, %0 : (tensor<1x2x3x3xf32>, tensor<f32>) -> tensor<1x2x3x3xf32>
//     %4 = nn.concat %3, %3 {axis = 1 : i64} : (tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>) -> tensor<1x4x3x3xf32>
//     %5 = nn.round %4 : tensor<1x4x3x3xf32>
//     %6 = nn.cast %5 {to = ui8} : (tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xui8>
//     %7 = nn.concat %3, %arg1 {axis = 1 : i64} : (tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>) -> tensor<1x4x3x3xf32>
//     %8 = nn.round %7 : tensor<1x4x3x3xf32>
//     %9 = nn.cast %8 {to = ui8} : (tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xui8>
//     %10 = nn.concat %3, %3 {axis = 1 : i64} : (tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>) -> tensor<1x4x3x3xf32>
//     %11 = nn.div %10, %1 : (tensor<1x4x3x3xf32>, tensor<4x1x1xf32>) -> tensor<1x4x3x3xf32>
//     %12 = nn.round %11 : tensor<1x4x3x3xf32>
//     %13 = nn.cast %12 {to = ui8} : (tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xui8>
//     return %4, %6, %9, %13 : tensor<1x4x3x3xf32>, tensor<1x4x3x3xui8>, tensor<1x4x3x3xui8>, tensor<1x4x3x3xui8>
//   }
// }
