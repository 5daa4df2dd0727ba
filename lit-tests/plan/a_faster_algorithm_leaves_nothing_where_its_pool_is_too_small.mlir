// RUN: optc --passes='plan{optimize=speed pools=arena:capacity=150335}' --remarks=plan
// With Winograd's scratch the arena would be one byte too large, so the convolution keeps its usual kernel.

func.func @main(%x: tensor<1x16x16x16xf32>) -> tensor<1x16xf32> {
  %w = nn.constant dense<0.5> : tensor<16x16x3x3xf32>
  %0 = nn.neg %x : tensor<1x16x16x16xf32>
  %1 = nn.conv2d %0, %w {layout = "NHWC", pads = array<i64: 1, 1, 1, 1>} : (tensor<1x16x16x16xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x16x16xf32>
  %2 = nn.reduce_mean %1 {axes = array<i64: 1, 2>} : (tensor<1x16x16x16xf32>) -> tensor<1x16xf32>
  return %2 : tensor<1x16xf32>
}
// ----- output
// remark: `winograd` would be about 1.3 times as fast, but the arena would have 150336 bytes, more than its capacity
//  --> a_faster_algorithm_leaves_nothing_where_its_pool_is_too_small.mlir:7:8
//   |
// 7 |   %1 = nn.conv2d %0, %w {layout = "NHWC", pads = array<i64: 1, 1, 1, 1>} : (tensor<1x16x16x16xf32>, tensor<16x16x3x3xf32>) -> tensor<...
//   |        ^^^^^^^^^
// module {
//   func.func @main(%arg0: tensor<1x16x16x16xf32>) -> tensor<1x16xf32> attributes {optc.arena = 53568 : i64, optc.pools = {arena = {align = 64 : i64, bytes = 53568 : i64, capacity = 150335 : i64, start = 0 : i64}}, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.constant dense<5.000000e-01> : tensor<16x16x3x3xf32>
//     %1 = nn.neg %arg0 {mem.kernel = "pointwise", mem.place = [["arena", 20800, 16384]]} : tensor<1x16x16x16xf32>
//     %2 = nn.conv2d %1, %0 {layout = "NHWC", mem.kernel = "conv2d", mem.place = [["arena", 37184, 16384], ["arena", 0, 20800]], mem.scratch = 20800 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x16x16x16xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x16x16xf32>
//     %3 = nn.reduce_mean %2 {axes = array<i64: 1, 2>, mem.kernel = "reduce", mem.place = [["out", 0, 64]]} : (tensor<1x16x16x16xf32>) -> tensor<1x16xf32>
//     return %3 : tensor<1x16xf32>
//   }
// }
