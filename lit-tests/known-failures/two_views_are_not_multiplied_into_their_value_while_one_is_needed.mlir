// RUN: optc --passes=inplace
// Both operands are views of one value, which is read at different indices and again later, so the product
// must not overwrite it.

func.func @main(%arg0: tensor<4xf32>) -> (tensor<4x4xf32>, tensor<1x4xf32>) {
  %0 = nn.exp %arg0 : tensor<4xf32>
  %1 = nn.reshape %0 {shape = array<i64: 1, 4>} : (tensor<4xf32>) -> tensor<1x4xf32>
  %2 = nn.reshape %0 {shape = array<i64: 4, 1>} : (tensor<4xf32>) -> tensor<4x1xf32>
  %3 = nn.mul %1, %2 : (tensor<1x4xf32>, tensor<4x1xf32>) -> tensor<4x4xf32>
  %4 = nn.max %1, %1 : tensor<1x4xf32>
  return %3, %4 : tensor<4x4xf32>, tensor<1x4xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<4xf32>) -> (tensor<4x4xf32>, tensor<1x4xf32>) attributes {optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.exp %arg0 {mem.kernel = "pointwise"} : tensor<4xf32>
//     %1 = nn.reshape %0 {mem.kernel = "copy", shape = array<i64: 1, 4>} : (tensor<4xf32>) -> tensor<1x4xf32>
//     %2 = nn.reshape %0 {mem.kernel = "copy", shape = array<i64: 4, 1>} : (tensor<4xf32>) -> tensor<4x1xf32>
//     %3 = nn.mul %1, %2 {mem.kernel = "pointwise"} : (tensor<1x4xf32>, tensor<4x1xf32>) -> tensor<4x4xf32>
//     %4 = nn.max %1, %1 {mem.kernel = "pointwise", mem.tie = array<i64: 0>} : tensor<1x4xf32>
//     return %3, %4 : tensor<4x4xf32>, tensor<1x4xf32>
//   }
// }
