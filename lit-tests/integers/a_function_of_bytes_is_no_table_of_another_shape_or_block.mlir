// RUN: optc --passes=integers
// A table has the shape of the bytes that it is looked up for: what a number of more axes gives one more axis
// has another, whether bytes or floats are given it. What is computed before a loop is not computed in it.

func.func @main(%x: tensor<8xui8>, %n: index, %b: tensor<8xui8>) -> (tensor<1x8xui8>, tensor<8xui8>) {
  %t = nn.constant dense<0.25> : tensor<1x1xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = nn.cast %x {to = f32} : (tensor<8xui8>) -> tensor<8xf32>
  %1 = nn.mul %0, %t : (tensor<8xf32>, tensor<1x1xf32>) -> tensor<1x8xf32>
  %2 = nn.round %1 : tensor<1x8xf32>
  %3 = nn.cast %2 {to = ui8} : (tensor<1x8xf32>) -> tensor<1x8xui8>
  %4 = nn.cast %x {to = f32} : (tensor<8xui8>) -> tensor<8xf32>
  %5 = nn.sigmoid %4 : tensor<8xf32>
  %6 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %b) -> (tensor<8xui8>) {
    %7 = nn.sqrt %5 : tensor<8xf32>
    %8 = nn.round %7 : tensor<8xf32>
    %9 = nn.cast %8 {to = ui8} : (tensor<8xf32>) -> tensor<8xui8>
    scf.yield %9 : tensor<8xui8>
  }
  return %3, %6 : tensor<1x8xui8>, tensor<8xui8>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<8xui8>, %arg1: index, %arg2: tensor<8xui8>) -> (tensor<1x8xui8>, tensor<8xui8>) {
//     %0 = nn.constant dense<2.500000e-01> : tensor<1x1xf32>
//     %1 = arith.constant 0 : index
//     %2 = arith.constant 1 : index
//     %3 = nn.cast %arg0 {to = f32} : (tensor<8xui8>) -> tensor<8xf32>
//     %4 = nn.mul %3, %0 : (tensor<8xf32>, tensor<1x1xf32>) -> tensor<1x8xf32>
//     %5 = nn.round %4 : tensor<1x8xf32>
//     %6 = nn.cast %5 {to = ui8} : (tensor<1x8xf32>) -> tensor<1x8xui8>
//     %7 = nn.cast %arg0 {to = f32} : (tensor<8xui8>) -> tensor<8xf32>
//     %8 = nn.sigmoid %7 : tensor<8xf32>
//     %9 = scf.for %arg3 = %1 to %arg1 step %2 iter_args(%arg4 = %arg2) -> (tensor<8xui8>) {
//       %10 = nn.sqrt %8 : tensor<8xf32>
//       %11 = nn.round %10 : tensor<8xf32>
//       %12 = nn.cast %11 {to = ui8} : (tensor<8xf32>) -> tensor<8xui8>
//       scf.yield %12 : tensor<8xui8>
//     }
//     return %6, %9 : tensor<1x8xui8>, tensor<8xui8>
//   }
// }
