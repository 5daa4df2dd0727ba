// RUN: optc --passes=inplace
// Along the outermost axis each operand is dense within the result, so even a kernel without row pitch writes
// there directly.

func.func @main(%x: tensor<1x3xf32>, %y: tensor<1x3xf32>) -> tensor<2x3xf32> {
  %0 = nn.softmax %x {axis = 1 : i64} : tensor<1x3xf32>
  %1 = nn.abs %y : tensor<1x3xf32>
  %2 = nn.concat %0, %1 {axis = 0 : i64} : (tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  return %2 : tensor<2x3xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x3xf32>, %arg1: tensor<1x3xf32>) -> tensor<2x3xf32> attributes {optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.softmax %arg0 {axis = 1 : i64, mem.kernel = "softmax"} : tensor<1x3xf32>
//     %1 = nn.abs %arg1 {mem.kernel = "pointwise"} : tensor<1x3xf32>
//     %2 = nn.concat %0, %1 {axis = 0 : i64, mem.parts = array<i64: 0, 1>} : (tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
//     return %2 : tensor<2x3xf32>
//   }
// }
