// RUN: optc --passes=inplace
// The second concatenation begins with the first one's operands, so the first can lie inside it and nothing
// is copied.

func.func @main(%x: tensor<2x3xf32>) -> tensor<2x12xf32> {
  %0 = nn.neg %x : tensor<2x3xf32>
  %1 = nn.abs %0 : tensor<2x3xf32>
  %2 = nn.concat %0, %1 {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
  %3 = nn.exp %2 : tensor<2x6xf32>
  %4 = nn.concat %0, %1, %3 {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x6xf32>) -> tensor<2x12xf32>
  return %4 : tensor<2x12xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x12xf32> attributes {optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.neg %arg0 {mem.kernel = "pointwise", mem.pitch = array<i64: 12, 48>} : tensor<2x3xf32>
//     %1 = nn.abs %0 {mem.kernel = "pointwise", mem.pitch = array<i64: 12, 48>} : tensor<2x3xf32>
//     %2 = nn.concat %0, %1 {axis = 1 : i64, mem.parts = array<i64: 0, 1>, mem.pitch = array<i64: 24, 48>} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
//     %3 = nn.exp %2 {mem.kernel = "pointwise", mem.pitch = array<i64: 24, 48>} : tensor<2x6xf32>
//     %4 = nn.concat %2, %3 {axis = 1 : i64, mem.parts = array<i64: 0, 1>} : (tensor<2x6xf32>, tensor<2x6xf32>) -> tensor<2x12xf32>
//     return %4 : tensor<2x12xf32>
//   }
// }
