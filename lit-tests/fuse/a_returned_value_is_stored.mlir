// RUN: optc --passes=fuse

func.func @main(%arg0: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = nn.exp %arg0 : tensor<4xf32>
  %1 = nn.neg %0 : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {optc.stage = "fuse"} {
//     %0 = nn.exp %arg0 : tensor<4xf32>
//     %1 = nn.neg %0 : tensor<4xf32>
//     return %0, %1 : tensor<4xf32>, tensor<4xf32>
//   }
// }
