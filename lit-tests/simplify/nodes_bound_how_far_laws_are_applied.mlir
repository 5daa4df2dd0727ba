// RUN: optc --passes='simplify{nodes=0}'
// With `nodes=0` the search for equal expressions stops after the first rewrite: the option bounds its memory
// and time.

func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = nn.mul %x, %x : tensor<4xf32>
  %1 = nn.mul %y, %y : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {optc.stage = "simplify"} {
//     %0 = nn.square %arg0 : tensor<4xf32>
//     %1 = nn.mul %arg1, %arg1 : tensor<4xf32>
//     return %0, %1 : tensor<4xf32>, tensor<4xf32>
//   }
// }
