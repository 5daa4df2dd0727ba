// RUN: optc --passes=fuse
// Elementwise operations of one shape become one group, so the values between them are never stored.

func.func @main(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.exp %arg0 : tensor<4xf32>
  %1 = nn.add %0, %arg1 : tensor<4xf32>
  %2 = nn.neg %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> tensor<4xf32> attributes {optc.stage = "fuse"} {
//     %0 = optc.group(%arg2 = %arg0, %arg3 = %arg1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
//       %1 = nn.exp %arg2 : tensor<4xf32>
//       %2 = nn.add %1, %arg3 : tensor<4xf32>
//       %3 = nn.neg %2 : tensor<4xf32>
//       optc.yield %3 : tensor<4xf32>
//     }
//     return %0 : tensor<4xf32>
//   }
// }
