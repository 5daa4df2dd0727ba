// RUN: optc --passes=integers
// A max pool in a loop that reads what is dequantized outside of it would dequantize each time. Parts of a
// concatenation whose scales are of the run are quantized as a whole.

func.func @main(%x: tensor<1x8x2x2xui8>, %n: index, %t: tensor<f32>) -> (tensor<1x8x1x1xf32>, tensor<1x16x2x2xui8>) {
  %s = nn.constant dense<0.5> : tensor<f32>
  %z = nn.constant dense<0.0> : tensor<1x8x1x1xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = nn.cast %x {to = f32} : (tensor<1x8x2x2xui8>) -> tensor<1x8x2x2xf32>
  %1 = nn.mul %0, %s : (tensor<1x8x2x2xf32>, tensor<f32>) -> tensor<1x8x2x2xf32>
  %2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %z) -> (tensor<1x8x1x1xf32>) {
    %3 = nn.max_pool2d %1 {kernel = array<i64: 2, 2>} : (tensor<1x8x2x2xf32>) -> tensor<1x8x1x1xf32>
    %4 = nn.add %3, %a : tensor<1x8x1x1xf32>
    scf.yield %4 : tensor<1x8x1x1xf32>
  }
  %5 = nn.cast %x {to = f32} : (tensor<1x8x2x2xui8>) -> tensor<1x8x2x2xf32>
  %6 = nn.mul %5, %t : (tensor<1x8x2x2xf32>, tensor<f32>) -> tensor<1x8x2x2xf32>
  %7 = nn.concat %6, %6 {axis = 1 : i64} : (tensor<1x8x2x2xf32>, tensor<1x8x2x2xf32>) -> tensor<1x16x2x2xf32>
  %8 = nn.round %7 : tensor<1x16x2x2xf32>
  %9 = nn.cast %8 {to = ui8} : (tensor<1x16x2x2xf32>) -> tensor<1x16x2x2xui8>
  return %2, %9 : tensor<1x8x1x1xf32>, tensor<1x16x2x2xui8>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x8x2x2xui8>, %arg1: index, %arg2: tensor<f32>) -> (tensor<1x8x1x1xf32>, tensor<1x16x2x2xui8>) {
//     %0 = nn.constant dense<5.000000e-01> : tensor<f32>
//     %1 = nn.constant dense<0.000000e+00> : tensor<1x8x1x1xf32>
//     %2 = arith.constant 0 : index
//     %3 = arith.constant 1 : index
//     %4 = nn.cast %arg0 {to = f32} : (tensor<1x8x2x2xui8>) -> tensor<1x8x2x2xf32>
//     %5 = nn.mul %4, %0 : (tensor<1x8x2x2xf32>, tensor<f32>) -> tensor<1x8x2x2xf32>
//     %6 = scf.for %arg3 = %2 to %arg1 step %3 iter_args(%arg4 = %1) -> (tensor<1x8x1x1xf32>) {
//       %12 = nn.max_pool2d %5 {kernel = array<i64: 2, 2>} : (tensor<1x8x2x2xf32>) -> tensor<1x8x1x1xf32>
//       %13 = nn.add %12, %arg4 : tensor<1x8x1x1xf32>
//       scf.yield %13 : tensor<1x8x1x1xf32>
//     }
//     %7 = nn.cast %arg0 {to = f32} : (tensor<1x8x2x2xui8>) -> tensor<1x8x2x2xf32>
//     %8 = nn.mul %7, %arg2 : (tensor<1x8x2x2xf32>, tensor<f32>) -> tensor<1x8x2x2xf32>
//     %9 = nn.concat %8, %8 {axis = 1 : i64} : (tensor<1x8x2x2xf32>, tensor<1x8x2x2xf32>) -> tensor<1x16x2x2xf32>
//     %10 = nn.round %9 : tensor<1x16x2x2xf32>
//     %11 = nn.cast %10 {to = ui8} : (tensor<1x16x2x2xf32>) -> tensor<1x16x2x2xui8>
//     return %6, %11 : tensor<1x8x1x1xf32>, tensor<1x16x2x2xui8>
//   }
// }
