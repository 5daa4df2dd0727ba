// RUN: optc --passes=fuse
// A value with two readers in different groups is stored once instead of being computed twice.

func.func @main(%arg0: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = nn.exp %arg0 : tensor<4xf32>
  %1 = nn.neg %0 : tensor<4xf32>
  %2 = nn.tanh %0 : tensor<4xf32>
  return %1, %2 : tensor<4xf32>, tensor<4xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {optc.stage = "fuse"} {
//     %0 = nn.exp %arg0 : tensor<4xf32>
//     %1 = nn.neg %0 : tensor<4xf32>
//     %2 = nn.tanh %0 : tensor<4xf32>
//     return %1, %2 : tensor<4xf32>, tensor<4xf32>
//   }
// }
