// RUN: optc --passes=fuse
// A group has one iteration space. An operand that broadcasts into a larger shape is computed outside, once
// an element.

func.func @main(%arg0: tensor<4xf32>, %arg1: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %0 = nn.exp %arg0 : tensor<4xf32>
  %1 = nn.add %0, %arg1 : (tensor<4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %2 = nn.neg %1 : tensor<3x4xf32>
  return %2 : tensor<3x4xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<4xf32>, %arg1: tensor<3x4xf32>) -> tensor<3x4xf32> attributes {optc.stage = "fuse"} {
//     %0 = nn.exp %arg0 : tensor<4xf32>
//     %1 = optc.group(%arg2 = %0, %arg3 = %arg1) : (tensor<4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32> {
//       %2 = nn.add %arg2, %arg3 : (tensor<4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
//       %3 = nn.neg %2 : tensor<3x4xf32>
//       optc.yield %3 : tensor<3x4xf32>
//     }
//     return %1 : tensor<3x4xf32>
//   }
// }
