// RUN: optc --passes=fuse
// A kernel that reads nothing is looked at for what it could do before its work: there is nothing. The pass
// asked for its first operand.

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = optc.fill {shape = array<i64: 4>, to = f32, value = 2.0 : f32} : tensor<4xf32>
  %0 = nn.mul %x, %y : tensor<4xf32>
  %1 = nn.relu %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> attributes {optc.stage = "fuse"} {
//     %0 = optc.fill {shape = array<i64: 4>, to = f32, value = 2.000000e+00 : f32} : tensor<4xf32>
//     %1 = optc.group(%arg1 = %arg0, %arg2 = %0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
//       %2 = nn.mul %arg1, %arg2 : tensor<4xf32>
//       %3 = nn.relu %2 : tensor<4xf32>
//       optc.yield %3 : tensor<4xf32>
//     }
//     return %1 : tensor<4xf32>
//   }
// }
