// RUN: optc --passes=schedule --stop-after=schedule:1
// In the whole order the second pooling comes before the negation, and its mean before the first pooling.

func.func @main(%x: tensor<1x8x8x16xf32>) -> tensor<1x1x1x16xf32> {
  %0 = nn.exp %x : tensor<1x8x8x16xf32>
  %1 = nn.neg %0 : tensor<1x8x8x16xf32>
  %2 = nn.max_pool2d %1 {kernel = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>, layout = "NHWC"} : (tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xf32>
  %3 = nn.max_pool2d %0 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, layout = "NHWC"} : (tensor<1x8x8x16xf32>) -> tensor<1x4x4x16xf32>
  %4 = nn.reduce_mean %2 {axes = array<i64: 1, 2>, keepdims} : (tensor<1x8x8x16xf32>) -> tensor<1x1x1x16xf32>
  %5 = nn.reduce_mean %3 {axes = array<i64: 1, 2>, keepdims} : (tensor<1x4x4x16xf32>) -> tensor<1x1x1x16xf32>
  %6 = nn.add %4, %5 : tensor<1x1x1x16xf32>
  return %6 : tensor<1x1x1x16xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x8x8x16xf32>) -> tensor<1x1x1x16xf32> attributes {optc.stage = "schedule", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.exp %arg0 {mem.kernel = "pointwise"} : tensor<1x8x8x16xf32>
//     %1 = nn.max_pool2d %0 {kernel = array<i64: 2, 2>, layout = "NHWC", mem.kernel = "max_pool2d", strides = array<i64: 2, 2>} : (tensor<1x8x8x16xf32>) -> tensor<1x4x4x16xf32>
//     %2 = nn.neg %0 {mem.kernel = "pointwise"} : tensor<1x8x8x16xf32>
//     %3 = nn.max_pool2d %2 {kernel = array<i64: 3, 3>, layout = "NHWC", mem.kernel = "max_pool2d", pads = array<i64: 1, 1, 1, 1>} : tensor<1x8x8x16xf32>
//     %4 = nn.reduce_mean %3 {axes = array<i64: 1, 2>, keepdims, mem.kernel = "reduce"} : (tensor<1x8x8x16xf32>) -> tensor<1x1x1x16xf32>
//     %5 = nn.reduce_mean %1 {axes = array<i64: 1, 2>, keepdims, mem.kernel = "reduce"} : (tensor<1x4x4x16xf32>) -> tensor<1x1x1x16xf32>
//     %6 = nn.add %4, %5 {mem.kernel = "pointwise"} : tensor<1x1x1x16xf32>
//     return %6 : tensor<1x1x1x16xf32>
//   }
// }
