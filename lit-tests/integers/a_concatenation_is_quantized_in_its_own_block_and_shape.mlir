// RUN: optc --passes=integers
// What is concatenated before a loop and quantized in it, and what is given one more axis on the way, stays a
// concatenation of floats.

func.func @main(%x: tensor<1x2xui8>, %n: index, %b: tensor<1x4xui8>) -> (tensor<1x4xui8>, tensor<1x1x4xui8>) {
  %s = nn.constant dense<0.5> : tensor<f32>
  %u = nn.constant dense<0.25> : tensor<1x1x1xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = nn.cast %x {to = f32} : (tensor<1x2xui8>) -> tensor<1x2xf32>
  %1 = nn.mul %0, %s : (tensor<1x2xf32>, tensor<f32>) -> tensor<1x2xf32>
  %2 = nn.concat %1, %1 {axis = 1 : i64} : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x4xf32>
  %3 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %b) -> (tensor<1x4xui8>) {
    %4 = nn.round %2 : tensor<1x4xf32>
    %5 = nn.cast %4 {to = ui8} : (tensor<1x4xf32>) -> tensor<1x4xui8>
    scf.yield %5 : tensor<1x4xui8>
  }
  %6 = nn.concat %1, %1 {axis = 1 : i64} : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x4xf32>
  %7 = nn.mul %6, %u : (tensor<1x4xf32>, tensor<1x1x1xf32>) -> tensor<1x1x4xf32>
  %8 = nn.round %7 : tensor<1x1x4xf32>
  %9 = nn.cast %8 {to = ui8} : (tensor<1x1x4xf32>) -> tensor<1x1x4xui8>
  return %3, %9 : tensor<1x4xui8>, tensor<1x1x4xui8>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x2xui8>, %arg1: index, %arg2: tensor<1x4xui8>) -> (tensor<1x4xui8>, tensor<1x1x4xui8>) {
//     %0 = nn.constant dense<5.000000e-01> : tensor<f32>
//     %1 = nn.constant dense<2.500000e-01> : tensor<1x1x1xf32>
//     %2 = arith.constant 0 : index
//     %3 = arith.constant 1 : index
//     %4 = nn.cast %arg0 {to = f32} : (tensor<1x2xui8>) -> tensor<1x2xf32>
//     %5 = nn.mul %4, %0 : (tensor<1x2xf32>, tensor<f32>) -> tensor<1x2xf32>
//     %6 = nn.concat %5, %5 {axis = 1 : i64} : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x4xf32>
//     %7 = scf.for %arg3 = %2 to %arg1 step %3 iter_args(%arg4 = %arg2) -> (tensor<1x4xui8>) {
//       %12 = nn.round %6 : tensor<1x4xf32>
//       %13 = nn.cast %12 {to = ui8} : (tensor<1x4xf32>) -> tensor<1x4xui8>
//       scf.yield %13 : tensor<1x4xui8>
//     }
//     %8 = nn.concat %5, %5 {axis = 1 : i64} : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x4xf32>
//     %9 = nn.mul %8, %1 : (tensor<1x4xf32>, tensor<1x1x1xf32>) -> tensor<1x1x4xf32>
//     %10 = nn.round %9 : tensor<1x1x4xf32>
//     %11 = nn.cast %10 {to = ui8} : (tensor<1x1x4xf32>) -> tensor<1x1x4xui8>
//     return %7, %11 : tensor<1x4xui8>, tensor<1x1x4xui8>
//   }
// }
