// RUN: optc --passes='fuse{max-ops=2}'
// The option `max-ops` bounds how many operations a group has, so a long chain becomes several groups.

func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.exp %arg0 : tensor<4xf32>
  %1 = nn.neg %0 : tensor<4xf32>
  %2 = nn.abs %1 : tensor<4xf32>
  %3 = nn.tanh %2 : tensor<4xf32>
  return %3 : tensor<4xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> attributes {optc.stage = "fuse"} {
//     %0 = optc.group(%arg1 = %arg0) : (tensor<4xf32>) -> tensor<4xf32> {
//       %2 = nn.exp %arg1 : tensor<4xf32>
//       %3 = nn.neg %2 : tensor<4xf32>
//       optc.yield %3 : tensor<4xf32>
//     }
//     %1 = optc.group(%arg1 = %0) : (tensor<4xf32>) -> tensor<4xf32> {
//       %2 = nn.abs %arg1 : tensor<4xf32>
//       %3 = nn.tanh %2 : tensor<4xf32>
//       optc.yield %3 : tensor<4xf32>
//     }
//     return %1 : tensor<4xf32>
//   }
// }
