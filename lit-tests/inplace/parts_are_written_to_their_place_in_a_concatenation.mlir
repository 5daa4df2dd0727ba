// RUN: optc --passes=inplace
// Producers write their rows into the concatenation with its pitch, so the concatenation itself does nothing.

func.func @main(%x: tensor<2x3xf32>, %y: tensor<2x5xf32>) -> tensor<2x8xf32> {
  %0 = nn.neg %x : tensor<2x3xf32>
  %1 = nn.abs %y : tensor<2x5xf32>
  %2 = nn.concat %0, %1 {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x5xf32>) -> tensor<2x8xf32>
  %3 = nn.neg %2 : tensor<2x8xf32>
  return %3 : tensor<2x8xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<2x3xf32>, %arg1: tensor<2x5xf32>) -> tensor<2x8xf32> attributes {optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.neg %arg0 {mem.kernel = "pointwise", mem.pitch = array<i64: 12, 32>} : tensor<2x3xf32>
//     %1 = nn.abs %arg1 {mem.kernel = "pointwise", mem.pitch = array<i64: 20, 32>} : tensor<2x5xf32>
//     %2 = nn.concat %0, %1 {axis = 1 : i64, mem.parts = array<i64: 0, 1>} : (tensor<2x3xf32>, tensor<2x5xf32>) -> tensor<2x8xf32>
//     %3 = nn.neg %2 {mem.kernel = "pointwise", mem.tie = array<i64: 0>} : tensor<2x8xf32>
//     return %3 : tensor<2x8xf32>
//   }
// }
