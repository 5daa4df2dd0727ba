// RUN: optc --passes=fuse
// Bytes that are made floats again, which nothing joins to bytes once more, are stored as bytes: they take
// less.

func.func @main(%x: tensor<2x16xui8>) -> tensor<2x4xf32> {
  %w = nn.constant dense<3> : tensor<16x4xi8>
  %z = nn.constant dense<128> : tensor<ui8>
  %v = nn.constant dense<0> : tensor<i8>
  %s = nn.constant dense<0.5> : tensor<f32>
  %0 = nn.quantized_matmul %x, %w, %z, %v
    : (tensor<2x16xui8>, tensor<16x4xi8>, tensor<ui8>, tensor<i8>) -> tensor<2x4xi32>
  %1 = nn.cast %0 {to = f32} : (tensor<2x4xi32>) -> tensor<2x4xf32>
  %2 = nn.mul %1, %s : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %3 = nn.cast %2 {to = ui8} : (tensor<2x4xf32>) -> tensor<2x4xui8>
  %4 = nn.cast %3 {to = f32} : (tensor<2x4xui8>) -> tensor<2x4xf32>
  %5 = nn.mul %4, %s : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %6 = nn.sinh %5 : tensor<2x4xf32>
  return %6 : tensor<2x4xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<2x16xui8>) -> tensor<2x4xf32> attributes {optc.stage = "fuse"} {
//     %0 = nn.constant dense<3> : tensor<16x4xi8>
//     %1 = nn.constant dense<128> : tensor<ui8>
//     %2 = nn.constant dense<0> : tensor<i8>
//     %3 = nn.constant dense<5.000000e-01> : tensor<f32>
//     %4 = optc.group(%arg1 = %arg0, %arg2 = %0, %arg3 = %1, %arg4 = %2, %arg5 = %3) : (tensor<2x16xui8>, tensor<16x4xi8>, tensor<ui8>, tensor<i8>, tensor<f32>) -> tensor<2x4xui8> {
//       %6 = nn.quantized_matmul %arg1, %arg2, %arg3, %arg4 : (tensor<2x16xui8>, tensor<16x4xi8>, tensor<ui8>, tensor<i8>) -> tensor<2x4xi32>
//       %7 = nn.cast %6 {to = f32} : (tensor<2x4xi32>) -> tensor<2x4xf32>
//       %8 = nn.mul %7, %arg5 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
//       %9 = nn.cast %8 {to = ui8} : (tensor<2x4xf32>) -> tensor<2x4xui8>
//       optc.yield %9 : tensor<2x4xui8>
//     }
//     %5 = optc.group(%arg1 = %4, %arg2 = %3) : (tensor<2x4xui8>, tensor<f32>) -> tensor<2x4xf32> {
//       %6 = nn.cast %arg1 {to = f32} : (tensor<2x4xui8>) -> tensor<2x4xf32>
//       %7 = nn.mul %6, %arg2 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
//       %8 = nn.sinh %7 : tensor<2x4xf32>
//       optc.yield %8 : tensor<2x4xf32>
//     }
//     return %5 : tensor<2x4xf32>
//   }
// }
