// RUN: optc --passes=schedule,inplace,plan
// In the given order the pooling reads %0 last, so the negation before it cannot overwrite %0. The other
// order saves a buffer.

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
//   func.func @main(%arg0: tensor<1x8x8x16xf32>) -> tensor<1x1x1x16xf32> attributes {optc.arena = 8256 : i64, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.exp %arg0 {mem.kernel = "pointwise", mem.place = [["arena", 0, 4096]]} : tensor<1x8x8x16xf32>
//     %1 = nn.max_pool2d %0 {kernel = array<i64: 2, 2>, layout = "NHWC", mem.kernel = "max_pool2d", mem.place = [["arena", 4096, 1024]], strides = array<i64: 2, 2>} : (tensor<1x8x8x16xf32>) -> tensor<1x4x4x16xf32>
//     %2 = nn.neg %0 {mem.kernel = "pointwise", mem.place = [["arena", 0, 4096]], mem.tie = array<i64: 0>} : tensor<1x8x8x16xf32>
//     %3 = nn.reduce_mean %1 {axes = array<i64: 1, 2>, keepdims, mem.kernel = "reduce", mem.place = [["arena", 8192, 64]]} : (tensor<1x4x4x16xf32>) -> tensor<1x1x1x16xf32>
//     %4 = nn.max_pool2d %2 {kernel = array<i64: 3, 3>, layout = "NHWC", mem.kernel = "max_pool2d", mem.place = [["arena", 4096, 4096]], pads = array<i64: 1, 1, 1, 1>} : tensor<1x8x8x16xf32>
//     %5 = nn.reduce_mean %4 {axes = array<i64: 1, 2>, keepdims, mem.kernel = "reduce", mem.place = [["out", 0, 64]]} : (tensor<1x8x8x16xf32>) -> tensor<1x1x1x16xf32>
//     %6 = nn.add %5, %3 {mem.kernel = "pointwise", mem.place = [["out", 0, 64]], mem.tie = array<i64: 0>} : tensor<1x1x1x16xf32>
//     return %6 : tensor<1x1x1x16xf32>
//   }
// }
