// RUN: optc --passes=integers
// Numbers of channels, other bytes and sums of neighbours are not functions of a byte, and two operations are
// too few.

func.func @main(%x: tensor<4x8xui8>, %y: tensor<4x8xui8>) -> (tensor<4x8xui8>, tensor<4x8xui8>, tensor<4x8xui8>, tensor<4x8xi8>) {
  %c = nn.constant dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tensor<8xf32>
  %0 = nn.cast %x {to = f32} : (tensor<4x8xui8>) -> tensor<4x8xf32>
  %1 = nn.add %0, %c : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %2 = nn.cast %1 {to = ui8} : (tensor<4x8xf32>) -> tensor<4x8xui8>
  %3 = nn.cast %y {to = f32} : (tensor<4x8xui8>) -> tensor<4x8xf32>
  %4 = nn.mul %0, %3 : tensor<4x8xf32>
  %5 = nn.cast %4 {to = ui8} : (tensor<4x8xf32>) -> tensor<4x8xui8>
  %6 = nn.softmax %0 {axis = 1 : i64} : tensor<4x8xf32>
  %7 = nn.mul %6, %0 : tensor<4x8xf32>
  %8 = nn.cast %7 {to = ui8} : (tensor<4x8xf32>) -> tensor<4x8xui8>
  %9 = nn.cast %0 {to = i8} : (tensor<4x8xf32>) -> tensor<4x8xi8>
  return %2, %5, %8, %9 : tensor<4x8xui8>, tensor<4x8xui8>, tensor<4x8xui8>, tensor<4x8xi8>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<4x8xui8>, %arg1: tensor<4x8xui8>) -> (tensor<4x8xui8>, tensor<4x8xui8>, tensor<4x8xui8>, tensor<4x8xi8>) {
//     %0 = nn.constant dense<[0.000000e+00, 1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00, 5.000000e+00, 6.000000e+00, 7.000000e+00]> : tensor<8xf32>
//     %1 = nn.cast %arg0 {to = f32} : (tensor<4x8xui8>) -> tensor<4x8xf32>
//     %2 = nn.add %1, %0 : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
//     %3 = nn.cast %2 {to = ui8} : (tensor<4x8xf32>) -> tensor<4x8xui8>
//     %4 = nn.cast %arg1 {to = f32} : (tensor<4x8xui8>) -> tensor<4x8xf32>
//     %5 = nn.mul %1, %4 : tensor<4x8xf32>
//     %6 = nn.cast %5 {to = ui8} : (tensor<4x8xf32>) -> tensor<4x8xui8>
//     %7 = nn.softmax %1 {axis = 1 : i64} : tensor<4x8xf32>
//     %8 = nn.mul %7, %1 : tensor<4x8xf32>
//     %9 = nn.cast %8 {to = ui8} : (tensor<4x8xf32>) -> tensor<4x8xui8>
//     %10 = nn.cast %1 {to = i8} : (tensor<4x8xf32>) -> tensor<4x8xi8>
//     return %3, %6, %9, %10 : tensor<4x8xui8>, tensor<4x8xui8>, tensor<4x8xui8>, tensor<4x8xi8>
//   }
// }
