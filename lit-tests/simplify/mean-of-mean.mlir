// RUN: optc --passes='simplify{laws=mean-of-mean}'
// The law that two means in a row are one mean over all of their axes.

func.func @main(%x: tensor<2x3x4xf32>) -> tensor<2xf32> {
  %0 = nn.reduce_mean %x {axes = array<i64: 2>, keepdims} : (tensor<2x3x4xf32>) -> tensor<2x3x1xf32>
  %1 = nn.reduce_mean %0 {axes = array<i64: 1, 2>} : (tensor<2x3x1xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<2x3x4xf32>) -> tensor<2xf32> attributes {optc.stage = "simplify"} {
//     %0 = nn.reduce_mean %arg0 {axes = array<i64: 1, 2>} : (tensor<2x3x4xf32>) -> tensor<2xf32>
//     return %0 : tensor<2xf32>
//   }
// }
