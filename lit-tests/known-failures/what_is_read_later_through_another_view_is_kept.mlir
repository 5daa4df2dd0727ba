// RUN: optc --passes=inplace
// The value is read later under another name. A planner that tracks names and not roots would overwrite it.

func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.exp %arg0 : tensor<4xf32>
  %1 = nn.reshape %0 {shape = array<i64: 2, 2>} : (tensor<4xf32>) -> tensor<2x2xf32>
  %2 = nn.tanh %0 : tensor<4xf32>
  %3 = nn.neg %1 : tensor<2x2xf32>
  %4 = nn.reshape %3 {shape = array<i64: 4>} : (tensor<2x2xf32>) -> tensor<4xf32>
  %5 = nn.sub %2, %4 : tensor<4xf32>
  return %5 : tensor<4xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> attributes {optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.exp %arg0 {mem.kernel = "pointwise"} : tensor<4xf32>
//     %1 = nn.reshape %0 {mem.kernel = "copy", shape = array<i64: 2, 2>} : (tensor<4xf32>) -> tensor<2x2xf32>
//     %2 = nn.tanh %0 {mem.kernel = "pointwise"} : tensor<4xf32>
//     %3 = nn.neg %1 {mem.kernel = "pointwise", mem.tie = array<i64: 0>} : tensor<2x2xf32>
//     %4 = nn.reshape %3 {mem.kernel = "copy", shape = array<i64: 4>} : (tensor<2x2xf32>) -> tensor<4xf32>
//     %5 = nn.sub %2, %4 {mem.kernel = "pointwise", mem.tie = array<i64: 0>} : tensor<4xf32>
//     return %5 : tensor<4xf32>
//   }
// }
