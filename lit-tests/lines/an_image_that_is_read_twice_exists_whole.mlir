// RUN: optc --passes='select,lines,inplace,plan{optimize=memory}'
// The sum reads the wide image too, as a whole, so streaming its rows would save nothing.

func.func @main(%x: tensor<1x32x16x4xf32>) -> tensor<1x32x16x32xf32> {
  %w = nn.constant dense<0.5> : tensor<32x4x1x1xf32>
  %v = nn.constant dense<0.25> : tensor<32x1x3x3xf32>
  %0 = nn.neg %x : tensor<1x32x16x4xf32>
  %1 = nn.conv2d %0, %w {layout = "NHWC"} : (tensor<1x32x16x4xf32>, tensor<32x4x1x1xf32>) -> tensor<1x32x16x32xf32>
  %2 = nn.conv2d %1, %v {groups = 32 : i64, layout = "NHWC", pads = array<i64: 1, 1, 1, 1>} : (tensor<1x32x16x32xf32>, tensor<32x1x3x3xf32>) -> tensor<1x32x16x32xf32>
  %3 = nn.add %1, %2 : tensor<1x32x16x32xf32>
  return %3 : tensor<1x32x16x32xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x32x16x4xf32>) -> tensor<1x32x16x32xf32> attributes {optc.arena = 65536 : i64, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.constant dense<5.000000e-01> : tensor<32x4x1x1xf32>
//     %1 = nn.constant dense<2.500000e-01> : tensor<32x1x3x3xf32>
//     %2 = nn.neg %arg0 {mem.kernel = "pointwise", mem.place = [["arena", 0, 8192]]} : tensor<1x32x16x4xf32>
//     %3 = nn.conv2d %2, %0 {layout = "NHWC", mem.kernel = "conv2d", mem.place = [["out", 0, 65536]]} : (tensor<1x32x16x4xf32>, tensor<32x4x1x1xf32>) -> tensor<1x32x16x32xf32>
//     %4 = nn.conv2d %3, %1 {groups = 32 : i64, layout = "NHWC", mem.kernel = "depthwise", mem.place = [["arena", 0, 65536]], pads = array<i64: 1, 1, 1, 1>} : (tensor<1x32x16x32xf32>, tensor<32x1x3x3xf32>) -> tensor<1x32x16x32xf32>
//     %5 = nn.add %3, %4 {mem.kernel = "pointwise", mem.place = [["out", 0, 65536]], mem.tie = array<i64: 0>} : tensor<1x32x16x32xf32>
//     return %5 : tensor<1x32x16x32xf32>
//   }
// }
