// RUN: optc --passes='plan{optimize=memory}'
// The image has a later reader, so the result of the pooling must not overlap it.

func.func @main(%x: tensor<1x16x16x16xf32>) -> (tensor<1x16xf32>, tensor<1x16xf32>) {
  %0 = nn.neg %x : tensor<1x16x16x16xf32>
  %1 = nn.max_pool2d %0 {kernel = array<i64: 2, 2>, layout = "NHWC", strides = array<i64: 2, 2>} : (tensor<1x16x16x16xf32>) -> tensor<1x8x8x16xf32>
  %2 = nn.reduce_mean %1 {axes = array<i64: 1, 2>} : (tensor<1x8x8x16xf32>) -> tensor<1x16xf32>
  %3 = nn.reduce_max %0 {axes = array<i64: 1, 2>} : (tensor<1x16x16x16xf32>) -> tensor<1x16xf32>
  return %2, %3 : tensor<1x16xf32>, tensor<1x16xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x16x16x16xf32>) -> (tensor<1x16xf32>, tensor<1x16xf32>) attributes {optc.arena = 20480 : i64, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.neg %arg0 {mem.kernel = "pointwise", mem.place = [["arena", 0, 16384]]} : tensor<1x16x16x16xf32>
//     %1 = nn.max_pool2d %0 {kernel = array<i64: 2, 2>, layout = "NHWC", mem.kernel = "max_pool2d", mem.place = [["arena", 16384, 4096]], strides = array<i64: 2, 2>} : (tensor<1x16x16x16xf32>) -> tensor<1x8x8x16xf32>
//     %2 = nn.reduce_mean %1 {axes = array<i64: 1, 2>, mem.kernel = "reduce", mem.place = [["out", 0, 64]]} : (tensor<1x8x8x16xf32>) -> tensor<1x16xf32>
//     %3 = nn.reduce_max %0 {axes = array<i64: 1, 2>, mem.kernel = "reduce", mem.place = [["out", 1, 64]]} : (tensor<1x16x16x16xf32>) -> tensor<1x16xf32>
//     return %2, %3 : tensor<1x16xf32>, tensor<1x16xf32>
//   }
// }
