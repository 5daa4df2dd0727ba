// RUN: optc --passes='plan{optimize=memory}'
// The images of a batch are pooled one after the other, the last one first: the results of all three end one
// row above the images, as that of one image would.

func.func @main(%x: tensor<3x16x16x16xf32>) -> tensor<3x8x8x16xf32> {
  %0 = nn.neg %x : tensor<3x16x16x16xf32>
  %1 = nn.max_pool2d %0 {kernel = array<i64: 2, 2>, layout = "NHWC", strides = array<i64: 2, 2>} : (tensor<3x16x16x16xf32>) -> tensor<3x8x8x16xf32>
  %2 = nn.neg %1 : tensor<3x8x8x16xf32>
  return %2 : tensor<3x8x8x16xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<3x16x16x16xf32>) -> tensor<3x8x8x16xf32> attributes {optc.arena = 49664 : i64, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.neg %arg0 {mem.kernel = "pointwise", mem.place = [["arena", 0, 49152]]} : tensor<3x16x16x16xf32>
//     %1 = nn.max_pool2d %0 {kernel = array<i64: 2, 2>, layout = "NHWC", mem.kernel = "max_pool2d", mem.overlap = array<i64: 0, -1>, mem.place = [["arena", 37376, 12288]], strides = array<i64: 2, 2>} : (tensor<3x16x16x16xf32>) -> tensor<3x8x8x16xf32>
//     %2 = nn.neg %1 {mem.kernel = "pointwise", mem.place = [["out", 0, 12288]]} : tensor<3x8x8x16xf32>
//     return %2 : tensor<3x8x8x16xf32>
//   }
// }
