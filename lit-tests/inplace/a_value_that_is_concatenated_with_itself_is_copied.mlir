// RUN: optc --passes=inplace,plan
// One value cannot lie at two places of its concatenation, so both are copies.

func.func @main(%x: tensor<2x3xf32>) -> tensor<2x6xf32> {
  %0 = nn.neg %x : tensor<2x3xf32>
  %1 = nn.concat %0, %0 {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
  return %1 : tensor<2x6xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x6xf32> attributes {optc.arena = 24 : i64, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.neg %arg0 {mem.kernel = "pointwise", mem.place = [["arena", 0, 24]]} : tensor<2x3xf32>
//     %1 = nn.concat %0, %0 {axis = 1 : i64, mem.kernel = "copy", mem.place = [["out", 0, 48]]} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
//     return %1 : tensor<2x6xf32>
//   }
// }
