// RUN: optc --passes='simplify{laws=norm-of-centred}'
// The law that puts the mean into a norm about zero, which makes a layer norm of it.

func.func @main(%x: tensor<2x3xf32>, %s: tensor<3xf32>, %b: tensor<3xf32>) -> tensor<2x3xf32> {
  %0 = nn.reduce_mean %x {axes = array<i64: 1>, keepdims} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %1 = nn.sub %x, %0 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %2 = nn.group_norm %1, %s, %b {about_zero, axes = array<i64>, axis = 1 : i64, groups = 1 : i64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %2 : tensor<2x3xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<3xf32>) -> tensor<2x3xf32> attributes {optc.stage = "simplify"} {
//     %0 = nn.group_norm %arg0, %arg1, %arg2 {axes = array<i64>, axis = 1 : i64, groups = 1 : i64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
//     return %0 : tensor<2x3xf32>
//   }
// }
