// RUN: optc --passes=inplace,plan
// Operands of a concatenation lie at their offset in it, whether it lies in the arena or in an output.

func.func @main(%x: tensor<2x3xf32>) -> (tensor<2x6xf32>, tensor<2x2xf32>) {
  %0 = nn.neg %x : tensor<2x3xf32>
  %1 = nn.abs %x : tensor<2x3xf32>
  %2 = nn.concat %0, %1 {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
  %3 = nn.reduce_sum %2 {axes = array<i64: 1>, keepdims} : (tensor<2x6xf32>) -> tensor<2x1xf32>
  %4 = nn.abs %3 : tensor<2x1xf32>
  %5 = nn.concat %4, %3 {axis = 1 : i64} : (tensor<2x1xf32>, tensor<2x1xf32>) -> tensor<2x2xf32>
  return %2, %5 : tensor<2x6xf32>, tensor<2x2xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<2x3xf32>) -> (tensor<2x6xf32>, tensor<2x2xf32>) attributes {optc.arena = 8 : i64, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.neg %arg0 {mem.kernel = "pointwise", mem.pitch = array<i64: 12, 24>, mem.place = [["out", 0, 24, 0, 12, 24]]} : tensor<2x3xf32>
//     %1 = nn.abs %arg0 {mem.kernel = "pointwise", mem.pitch = array<i64: 12, 24>, mem.place = [["out", 0, 24, 12, 12, 24]]} : tensor<2x3xf32>
//     %2 = nn.concat %0, %1 {axis = 1 : i64, mem.parts = array<i64: 0, 1>, mem.place = [["out", 0, 48]]} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
//     %3 = nn.reduce_sum %2 {axes = array<i64: 1>, keepdims, mem.kernel = "reduce", mem.place = [["arena", 0, 8]]} : (tensor<2x6xf32>) -> tensor<2x1xf32>
//     %4 = nn.abs %3 {mem.kernel = "pointwise", mem.pitch = array<i64: 4, 8>, mem.place = [["out", 1, 8, 0, 4, 8]]} : tensor<2x1xf32>
//     %5 = nn.concat %4, %3 {axis = 1 : i64, mem.kernel = "copy", mem.parts = array<i64: 0>, mem.place = [["out", 1, 16]]} : (tensor<2x1xf32>, tensor<2x1xf32>) -> tensor<2x2xf32>
//     return %2, %5 : tensor<2x6xf32>, tensor<2x2xf32>
//   }
// }
