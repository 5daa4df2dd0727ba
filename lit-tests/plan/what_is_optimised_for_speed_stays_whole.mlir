// RUN: optc --passes='plan{optimize=speed}'
// Overlap needs extra calls for bands of rows, so with `optimize=speed` image and result lie side by side.

func.func @main(%x: tensor<1x16x16x16xf32>) -> tensor<1x8x8x16xf32> {
  %0 = nn.neg %x : tensor<1x16x16x16xf32>
  %1 = nn.max_pool2d %0 {kernel = array<i64: 2, 2>, layout = "NHWC", strides = array<i64: 2, 2>} : (tensor<1x16x16x16xf32>) -> tensor<1x8x8x16xf32>
  %2 = nn.neg %1 : tensor<1x8x8x16xf32>
  return %2 : tensor<1x8x8x16xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x16x16x16xf32>) -> tensor<1x8x8x16xf32> attributes {optc.arena = 20480 : i64, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.neg %arg0 {mem.kernel = "pointwise", mem.place = [["arena", 0, 16384]]} : tensor<1x16x16x16xf32>
//     %1 = nn.max_pool2d %0 {kernel = array<i64: 2, 2>, layout = "NHWC", mem.kernel = "max_pool2d", mem.place = [["arena", 16384, 4096]], strides = array<i64: 2, 2>} : (tensor<1x16x16x16xf32>) -> tensor<1x8x8x16xf32>
//     %2 = nn.neg %1 {mem.kernel = "pointwise", mem.place = [["out", 0, 4096]]} : tensor<1x8x8x16xf32>
//     return %2 : tensor<1x8x8x16xf32>
//   }
// }
