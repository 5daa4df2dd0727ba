// RUN: optc --passes=integers
// A zero point that is reshaped is where it is subtracted: along the rows here, though as many as there are
// columns.

func.func @main(%x: tensor<2x4xui8>) -> tensor<2x4xf32> {
  %w = nn.constant dense<3> : tensor<4x4xi8>
  %z = nn.constant dense<[0, 10, 20, 30]> : tensor<4xi8>
  %s = nn.constant dense<0.5> : tensor<f32>
  %0 = nn.cast %x {to = f32} : (tensor<2x4xui8>) -> tensor<2x4xf32>
  %1 = nn.mul %0, %s : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %2 = nn.cast %z {to = f32} : (tensor<4xi8>) -> tensor<4xf32>
  %3 = nn.reshape %2 {shape = array<i64: 4, 1>} : (tensor<4xf32>) -> tensor<4x1xf32>
  %4 = nn.cast %w {to = f32} : (tensor<4x4xi8>) -> tensor<4x4xf32>
  %5 = nn.sub %4, %3 : (tensor<4x4xf32>, tensor<4x1xf32>) -> tensor<4x4xf32>
  %6 = nn.mul %5, %s : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %7 = nn.matmul %1, %6 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  return %7 : tensor<2x4xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<2x4xui8>) -> tensor<2x4xf32> {
//     %0 = nn.constant dense<3> : tensor<4x4xi8>
//     %1 = nn.constant dense<[0, 10, 20, 30]> : tensor<4xi8>
//     %2 = nn.constant dense<5.000000e-01> : tensor<f32>
//     %3 = nn.cast %arg0 {to = f32} : (tensor<2x4xui8>) -> tensor<2x4xf32>
//     %4 = nn.mul %3, %2 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
//     %5 = nn.cast %1 {to = f32} : (tensor<4xi8>) -> tensor<4xf32>
//     %6 = nn.reshape %5 {shape = array<i64: 4, 1>} : (tensor<4xf32>) -> tensor<4x1xf32>
//     %7 = nn.cast %0 {to = f32} : (tensor<4x4xi8>) -> tensor<4x4xf32>
//     %8 = nn.sub %7, %6 : (tensor<4x4xf32>, tensor<4x1xf32>) -> tensor<4x4xf32>
//     %9 = nn.mul %8, %2 : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
//     %10 = nn.matmul %4, %9 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
//     return %10 : tensor<2x4xf32>
//   }
// }
