// RUN: optc --passes='inplace,plan{optimize=memory}'
// An in-place operand of a concatenation may overlap the rows that its kernel has already read. The arena is
// smaller than both images together.

func.func @main(%x: tensor<1x16x16x16xf32>, %y: tensor<1x8x8x48xf32>) -> tensor<1x8x8xf32> {
  %0 = nn.neg %x : tensor<1x16x16x16xf32>
  %1 = nn.max_pool2d %0 {kernel = array<i64: 2, 2>, layout = "NHWC", strides = array<i64: 2, 2>} : (tensor<1x16x16x16xf32>) -> tensor<1x8x8x16xf32>
  %2 = nn.neg %y : tensor<1x8x8x48xf32>
  %3 = nn.concat %1, %2 {axis = 3 : i64} : (tensor<1x8x8x16xf32>, tensor<1x8x8x48xf32>) -> tensor<1x8x8x64xf32>
  %4 = nn.reduce_sum %3 {axes = array<i64: 3>} : (tensor<1x8x8x64xf32>) -> tensor<1x8x8xf32>
  return %4 : tensor<1x8x8xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x16x16x16xf32>, %arg1: tensor<1x8x8x48xf32>) -> tensor<1x8x8xf32> attributes {optc.arena = 18432 : i64, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.neg %arg0 {mem.kernel = "pointwise", mem.place = [["arena", 2048, 16384]]} : tensor<1x16x16x16xf32>
//     %1 = nn.max_pool2d %0 {kernel = array<i64: 2, 2>, layout = "NHWC", mem.kernel = "max_pool2d", mem.overlap = array<i64: 0, 1>, mem.pitch = array<i64: 64, 256>, mem.place = [["arena", 0, 4096, 0, 64, 256]], strides = array<i64: 2, 2>} : (tensor<1x16x16x16xf32>) -> tensor<1x8x8x16xf32>
//     %2 = nn.neg %arg1 {mem.kernel = "pointwise", mem.pitch = array<i64: 192, 256>, mem.place = [["arena", 0, 12288, 64, 192, 256]]} : tensor<1x8x8x48xf32>
//     %3 = nn.concat %1, %2 {axis = 3 : i64, mem.parts = array<i64: 0, 1>, mem.place = [["arena", 0, 16384]]} : (tensor<1x8x8x16xf32>, tensor<1x8x8x48xf32>) -> tensor<1x8x8x64xf32>
//     %4 = nn.reduce_sum %3 {axes = array<i64: 3>, mem.kernel = "reduce", mem.place = [["out", 0, 256]]} : (tensor<1x8x8x64xf32>) -> tensor<1x8x8xf32>
//     return %4 : tensor<1x8x8xf32>
//   }
// }
