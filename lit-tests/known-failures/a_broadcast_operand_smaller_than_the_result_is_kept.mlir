// RUN: optc --passes=inplace
// The operand has fewer bytes than the result, so overwriting it would write beyond its buffer. Other
// planners have done so.

func.func @main(%arg0: tensor<4xf32>, %arg1: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %0 = nn.exp %arg0 : tensor<4xf32>
  %1 = nn.add %0, %arg1 : (tensor<4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return %1 : tensor<3x4xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<4xf32>, %arg1: tensor<3x4xf32>) -> tensor<3x4xf32> attributes {optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.exp %arg0 {mem.kernel = "pointwise"} : tensor<4xf32>
//     %1 = nn.add %0, %arg1 {mem.kernel = "pointwise"} : (tensor<4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
//     return %1 : tensor<3x4xf32>
//   }
// }
