// RUN: optc --passes=inplace
// A view without gaps has all bytes of its root, so a result may overwrite them through the view.

func.func @main(%arg0: tensor<4xf32>) -> tensor<2x2xf32> {
  %0 = nn.exp %arg0 : tensor<4xf32>
  %1 = nn.reshape %0 {shape = array<i64: 2, 2>} : (tensor<4xf32>) -> tensor<2x2xf32>
  %2 = nn.neg %1 : tensor<2x2xf32>
  return %2 : tensor<2x2xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<4xf32>) -> tensor<2x2xf32> attributes {optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.exp %arg0 {mem.kernel = "pointwise"} : tensor<4xf32>
//     %1 = nn.reshape %0 {mem.kernel = "copy", shape = array<i64: 2, 2>} : (tensor<4xf32>) -> tensor<2x2xf32>
//     %2 = nn.neg %1 {mem.kernel = "pointwise", mem.tie = array<i64: 0>} : tensor<2x2xf32>
//     return %2 : tensor<2x2xf32>
//   }
// }
