// RUN: optc --passes='plan{optimize=memory}' --remarks=plan
// The smallest arena has scratch that only speeds a window up where it fits below the peak.

func.func @main(%x: tensor<1x128x128x16xf32>) -> tensor<1x16xf32> {
  %w = nn.constant dense<0.5> : tensor<16x16x3x3xf32>
  %0 = nn.neg %x : tensor<1x128x128x16xf32>
  %1 = nn.max_pool2d %0 {kernel = array<i64: 8, 8>, layout = "NHWC", strides = array<i64: 8, 8>} : (tensor<1x128x128x16xf32>) -> tensor<1x16x16x16xf32>
  %2 = nn.conv2d %1, %w {layout = "NHWC", pads = array<i64: 1, 1, 1, 1>} : (tensor<1x16x16x16xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x16x16xf32>
  %3 = nn.reduce_mean %2 {axes = array<i64: 1, 2>} : (tensor<1x16x16x16xf32>) -> tensor<1x16xf32>
  return %3 : tensor<1x16xf32>
}
// ----- output
// remark: computed by `winograd`, about 1.3 times as fast
//  --> winograd_is_used_for_memory_beneath_its_peak.mlir:8:8
//   |
// 8 |   %2 = nn.conv2d %1, %w {layout = "NHWC", pads = array<i64: 1, 1, 1, 1>} : (tensor<1x16x16x16xf32>, tensor<16x16x3x3xf32>) -> tensor<...
//   |        ^^^^^^^^^
// module {
//   func.func @main(%arg0: tensor<1x128x128x16xf32>) -> tensor<1x16xf32> attributes {optc.arena = 1049600 : i64, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.constant dense<5.000000e-01> : tensor<16x16x3x3xf32>
//     %1 = nn.neg %arg0 {mem.kernel = "pointwise", mem.place = [["arena", 0, 1048576]]} : tensor<1x128x128x16xf32>
//     %2 = nn.max_pool2d %1 {kernel = array<i64: 8, 8>, layout = "NHWC", mem.kernel = "max_pool2d", mem.overlap = array<i64: 0, -15>, mem.place = [["arena", 1033216, 16384]], strides = array<i64: 8, 8>} : (tensor<1x128x128x16xf32>) -> tensor<1x16x16x16xf32>
//     %3 = nn.conv2d %2, %0 {layout = "NHWC", mem.kernel = "winograd", mem.method = "winograd", mem.place = [["arena", 117568, 16384], ["arena", 0, 117568]], mem.scratch = 117568 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x16x16x16xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x16x16xf32>
//     %4 = nn.reduce_mean %3 {axes = array<i64: 1, 2>, mem.kernel = "reduce", mem.place = [["out", 0, 64]]} : (tensor<1x16x16x16xf32>) -> tensor<1x16xf32>
//     return %4 : tensor<1x16xf32>
//   }
// }
