// RUN: optc --passes=cse
// `x + y` and `y + x` are one value, `x - y` and `y - x` are two.

func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.add %x, %y : tensor<4xf32>
  %1 = nn.add %y, %x : tensor<4xf32>
  %2 = nn.sub %x, %y : tensor<4xf32>
  %3 = nn.sub %y, %x : tensor<4xf32>
  %4 = nn.mul %0, %1 : tensor<4xf32>
  %5 = nn.mul %2, %3 : tensor<4xf32>
  %6 = nn.mul %4, %5 : tensor<4xf32>
  return %6 : tensor<4xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> tensor<4xf32> {
//     %0 = nn.add %arg0, %arg1 : tensor<4xf32>
//     %1 = nn.sub %arg0, %arg1 : tensor<4xf32>
//     %2 = nn.sub %arg1, %arg0 : tensor<4xf32>
//     %3 = nn.mul %0, %0 : tensor<4xf32>
//     %4 = nn.mul %1, %2 : tensor<4xf32>
//     %5 = nn.mul %3, %4 : tensor<4xf32>
//     return %5 : tensor<4xf32>
//   }
// }
