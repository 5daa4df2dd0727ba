// RUN: optc --passes=dce
// An unread result is removed; `dce` alone leaves equal operations in place.

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.exp %x : tensor<4xf32>
  %1 = nn.exp %x : tensor<4xf32>
  %2 = nn.add %0, %1 : tensor<4xf32>
  %3 = nn.neg %2 : tensor<4xf32>
  return %2 : tensor<4xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
//     %0 = nn.exp %arg0 : tensor<4xf32>
//     %1 = nn.exp %arg0 : tensor<4xf32>
//     %2 = nn.add %0, %1 : tensor<4xf32>
//     return %2 : tensor<4xf32>
//   }
// }
