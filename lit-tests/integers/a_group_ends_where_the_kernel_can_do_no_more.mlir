// RUN: optc --passes=fuse
// A residual, an activation and the rounding to bytes are done to the sums by their kernel, but nothing is
// taken from a number, and no function is applied that it does not have: what follows is a group of its own.

func.func @main(%x: tensor<2x16xui8>, %r: tensor<2x4xf32>) -> (tensor<2x4xi8>, tensor<2x4xf32>) {
  %w = nn.constant dense<3> : tensor<16x4xi8>
  %z = nn.constant dense<128> : tensor<ui8>
  %v = nn.constant dense<0> : tensor<i8>
  %s = nn.constant dense<0.5> : tensor<f32>
  %0 = nn.quantized_matmul %x, %w, %z, %v
    : (tensor<2x16xui8>, tensor<16x4xi8>, tensor<ui8>, tensor<i8>) -> tensor<2x4xi32>
  %1 = nn.cast %0 {to = f32} : (tensor<2x4xi32>) -> tensor<2x4xf32>
  %2 = nn.mul %1, %s : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %3 = nn.add %2, %r : tensor<2x4xf32>
  %4 = nn.gelu %3 : tensor<2x4xf32>
  %5 = nn.cast %4 {to = i8} : (tensor<2x4xf32>) -> tensor<2x4xi8>
  %6 = nn.quantized_matmul %x, %w, %z, %v
    : (tensor<2x16xui8>, tensor<16x4xi8>, tensor<ui8>, tensor<i8>) -> tensor<2x4xi32>
  %7 = nn.cast %6 {to = f32} : (tensor<2x4xi32>) -> tensor<2x4xf32>
  %8 = nn.sub %s, %7 : (tensor<f32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %9 = nn.sinh %8 : tensor<2x4xf32>
  return %5, %9 : tensor<2x4xi8>, tensor<2x4xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<2x16xui8>, %arg1: tensor<2x4xf32>) -> (tensor<2x4xi8>, tensor<2x4xf32>) attributes {optc.stage = "fuse"} {
//     %0 = nn.constant dense<3> : tensor<16x4xi8>
//     %1 = nn.constant dense<128> : tensor<ui8>
//     %2 = nn.constant dense<0> : tensor<i8>
//     %3 = nn.constant dense<5.000000e-01> : tensor<f32>
//     %4 = optc.group(%arg2 = %arg0, %arg3 = %0, %arg4 = %1, %arg5 = %2, %arg6 = %3, %arg7 = %arg1) : (tensor<2x16xui8>, tensor<16x4xi8>, tensor<ui8>, tensor<i8>, tensor<f32>, tensor<2x4xf32>) -> tensor<2x4xi8> {
//       %7 = nn.quantized_matmul %arg2, %arg3, %arg4, %arg5 : (tensor<2x16xui8>, tensor<16x4xi8>, tensor<ui8>, tensor<i8>) -> tensor<2x4xi32>
//       %8 = nn.cast %7 {to = f32} : (tensor<2x4xi32>) -> tensor<2x4xf32>
//       %9 = nn.mul %8, %arg6 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
//       %10 = nn.add %9, %arg7 : tensor<2x4xf32>
//       %11 = nn.gelu %10 : tensor<2x4xf32>
//       %12 = nn.cast %11 {to = i8} : (tensor<2x4xf32>) -> tensor<2x4xi8>
//       optc.yield %12 : tensor<2x4xi8>
//     }
//     %5 = optc.group(%arg2 = %arg0, %arg3 = %0, %arg4 = %1, %arg5 = %2) : (tensor<2x16xui8>, tensor<16x4xi8>, tensor<ui8>, tensor<i8>) -> tensor<2x4xf32> {
//       %7 = nn.quantized_matmul %arg2, %arg3, %arg4, %arg5 : (tensor<2x16xui8>, tensor<16x4xi8>, tensor<ui8>, tensor<i8>) -> tensor<2x4xi32>
//       %8 = nn.cast %7 {to = f32} : (tensor<2x4xi32>) -> tensor<2x4xf32>
//       optc.yield %8 : tensor<2x4xf32>
//     }
//     %6 = optc.group(%arg2 = %3, %arg3 = %5) : (tensor<f32>, tensor<2x4xf32>) -> tensor<2x4xf32> {
//       %7 = nn.sub %arg2, %arg3 : (tensor<f32>, tensor<2x4xf32>) -> tensor<2x4xf32>
//       %8 = nn.sinh %7 : tensor<2x4xf32>
//       optc.yield %8 : tensor<2x4xf32>
//     }
//     return %4, %6 : tensor<2x4xi8>, tensor<2x4xf32>
//   }
// }
