// RUN: optc --passes=simplify
// What is left after simplification stands in the order of the text, so `schedule` starts from the author's
// order.

func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = nn.exp %y : tensor<4xf32>
  %1 = nn.sigmoid %x : tensor<4xf32>
  %2 = nn.log %x : tensor<4xf32>
  %3 = nn.mul %x, %1 : tensor<4xf32>
  %4 = nn.add %0, %2 : tensor<4xf32>
  %5 = nn.neg %4 : tensor<4xf32>
  return %4, %3 : tensor<4xf32>, tensor<4xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {optc.stage = "simplify"} {
//     %0 = nn.exp %arg1 : tensor<4xf32>
//     %1 = nn.log %arg0 : tensor<4xf32>
//     %2 = nn.silu %arg0 : tensor<4xf32>
//     %3 = nn.add %0, %1 : tensor<4xf32>
//     return %3, %2 : tensor<4xf32>, tensor<4xf32>
//   }
// }
