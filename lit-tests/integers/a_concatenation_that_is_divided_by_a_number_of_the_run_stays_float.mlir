// RUN: optc --passes=integers
// Parts are quantized each only where that is a table: a divisor that is an argument makes none.

func.func @main(%x: tensor<1x2xui8>, %q: tensor<f32>) -> tensor<1x4xui8> {
  %s = nn.constant dense<0.5> : tensor<f32>
  %0 = nn.cast %x {to = f32} : (tensor<1x2xui8>) -> tensor<1x2xf32>
  %1 = nn.mul %0, %s : (tensor<1x2xf32>, tensor<f32>) -> tensor<1x2xf32>
  %2 = nn.concat %1, %1 {axis = 1 : i64} : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x4xf32>
  %3 = nn.div %2, %q : (tensor<1x4xf32>, tensor<f32>) -> tensor<1x4xf32>
  %4 = nn.round %3 : tensor<1x4xf32>
  %5 = nn.cast %4 {to = ui8} : (tensor<1x4xf32>) -> tensor<1x4xui8>
  return %5 : tensor<1x4xui8>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x2xui8>, %arg1: tensor<f32>) -> tensor<1x4xui8> {
//     %0 = nn.constant dense<5.000000e-01> : tensor<f32>
//     %1 = nn.cast %arg0 {to = f32} : (tensor<1x2xui8>) -> tensor<1x2xf32>
//     %2 = nn.mul %1, %0 : (tensor<1x2xf32>, tensor<f32>) -> tensor<1x2xf32>
//     %3 = nn.concat %2, %2 {axis = 1 : i64} : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x4xf32>
//     %4 = nn.div %3, %arg1 : (tensor<1x4xf32>, tensor<f32>) -> tensor<1x4xf32>
//     %5 = nn.round %4 : tensor<1x4xf32>
//     %6 = nn.cast %5 {to = ui8} : (tensor<1x4xf32>) -> tensor<1x4xui8>
//     return %6 : tensor<1x4xui8>
//   }
// }
