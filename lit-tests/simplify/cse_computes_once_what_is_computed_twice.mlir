// RUN: optc --passes=cse
// Equal operations are computed once; `cse` alone leaves the unread negation in place.

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
//     %1 = nn.add %0, %0 : tensor<4xf32>
//     %2 = nn.neg %1 : tensor<4xf32>
//     return %1 : tensor<4xf32>
//   }
// }
