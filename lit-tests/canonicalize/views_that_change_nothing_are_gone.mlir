// RUN: optc --passes=canonicalize
// A reshape, broadcast, cast or concatenation that gives back its operand is removed. One that changes the
// shape or the type stays.

func.func @main(%x: tensor<2x2xf32>, %y: tensor<1x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf64>) {
  %0 = nn.reshape %x {shape = array<i64: 2, 2>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = nn.broadcast %0 {shape = array<i64: 2, 2>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %2 = nn.cast %1 {to = f32} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %3 = nn.concat %2 {axis = 0 : i64} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %4 = nn.broadcast %y {shape = array<i64: 2, 2>} : (tensor<1x2xf32>) -> tensor<2x2xf32>
  %5 = nn.cast %x {to = f64} : (tensor<2x2xf32>) -> tensor<2x2xf64>
  return %3, %4, %5 : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf64>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<2x2xf32>, %arg1: tensor<1x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf64>) {
//     %0 = nn.broadcast %arg1 {shape = array<i64: 2, 2>} : (tensor<1x2xf32>) -> tensor<2x2xf32>
//     %1 = nn.cast %arg0 {to = f64} : (tensor<2x2xf32>) -> tensor<2x2xf64>
//     return %arg0, %0, %1 : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf64>
//   }
// }
