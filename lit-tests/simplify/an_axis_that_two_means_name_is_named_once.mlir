// RUN: optc --passes='simplify{laws=mean-of-mean}'
// The second mean is also over an axis of the first, which has one element by then.

func.func @main(%x: tensor<2x3x4xf32>) -> tensor<3xf32> {
  %0 = nn.reduce_mean %x {axes = array<i64: 0>, keepdims} : (tensor<2x3x4xf32>) -> tensor<1x3x4xf32>
  %1 = nn.reduce_mean %0 {axes = array<i64: 0, 2>} : (tensor<1x3x4xf32>) -> tensor<3xf32>
  return %1 : tensor<3xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<2x3x4xf32>) -> tensor<3xf32> attributes {optc.stage = "simplify"} {
//     %0 = nn.reduce_mean %arg0 {axes = array<i64: 0, 2>} : (tensor<2x3x4xf32>) -> tensor<3xf32>
//     return %0 : tensor<3xf32>
//   }
// }
