// RUN: optc --passes='plan{optimize=speed pools=arena:capacity=150336}' --remarks=plan
// With Winograd's scratch the arena has exactly the bytes that it may have.

func.func @main(%x: tensor<1x16x16x16xf32>) -> tensor<1x16xf32> {
  %w = nn.constant dense<0.5> : tensor<16x16x3x3xf32>
  %0 = nn.neg %x : tensor<1x16x16x16xf32>
  %1 = nn.conv2d %0, %w {layout = "NHWC", pads = array<i64: 1, 1, 1, 1>} : (tensor<1x16x16x16xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x16x16xf32>
  %2 = nn.reduce_mean %1 {axes = array<i64: 1, 2>} : (tensor<1x16x16x16xf32>) -> tensor<1x16xf32>
  return %2 : tensor<1x16xf32>
}
// ----- output
// remark: computed by `winograd`, about 1.3 times as fast
//  --> a_faster_algorithm_may_fill_a_pool_to_its_capacity.mlir:7:8
//   |
// 7 |   %1 = nn.conv2d %0, %w {layout = "NHWC", pads = array<i64: 1, 1, 1, 1>} : (tensor<1x16x16x16xf32>, tensor<16x16x3x3xf32>) -> tensor<...
//   |        ^^^^^^^^^
// module {
//   func.func @main(%arg0: tensor<1x16x16x16xf32>) -> tensor<1x16xf32> attributes {optc.arena = 150336 : i64, optc.pools = {arena = {align = 64 : i64, bytes = 150336 : i64, capacity = 150336 : i64, start = 0 : i64}}, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.constant dense<5.000000e-01> : tensor<16x16x3x3xf32>
//     %1 = nn.neg %arg0 {mem.kernel = "pointwise", mem.place = [["arena", 117568, 16384]]} : tensor<1x16x16x16xf32>
//     %2 = nn.conv2d %1, %0 {layout = "NHWC", mem.kernel = "winograd", mem.method = "winograd", mem.place = [["arena", 133952, 16384], ["arena", 0, 117568]], mem.scratch = 117568 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x16x16x16xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x16x16xf32>
//     %3 = nn.reduce_mean %2 {axes = array<i64: 1, 2>, mem.kernel = "reduce", mem.place = [["out", 0, 64]]} : (tensor<1x16x16x16xf32>) -> tensor<1x16xf32>
//     return %3 : tensor<1x16xf32>
//   }
// }
