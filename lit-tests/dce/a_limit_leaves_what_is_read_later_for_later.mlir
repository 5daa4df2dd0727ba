// RUN: optc --passes=dce --stop-after=dce:2
// The last operation goes first, so that what reads goes before what it reads.

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.exp %x : tensor<4xf32>
  %1 = nn.tanh %0 : tensor<4xf32>
  %2 = nn.neg %x : tensor<4xf32>
  return %x : tensor<4xf32>
}
// ----- output
// module {
//   func.func @f(%arg0: tensor<4xf32>) -> tensor<4xf32> {
//     %0 = nn.exp %arg0 : tensor<4xf32>
//     return %arg0 : tensor<4xf32>
//   }
// }
