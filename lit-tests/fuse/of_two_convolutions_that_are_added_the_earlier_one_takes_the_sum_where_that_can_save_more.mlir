// RUN: optc --passes='fuse,select,schedule,lines,inplace,plan{optimize=memory}'

// Whole, as much is live either way. But %3 made of what dies there can lie over it, when %0 and %1 ran in turns.
func.func @main(%x: tensor<1x32x32x64xf32>) -> tensor<1x1x1x128xf32> {
  %w0 = nn.constant dense<0.5> : tensor<64x64x1x1xf32>
  %w1 = nn.constant dense<0.25> : tensor<32x64x3x3xf32>
  %w2 = nn.constant dense<0.125> : tensor<128x32x1x1xf32>
  %w3 = nn.constant dense<0.0625> : tensor<128x64x1x1xf32>
  %y = nn.neg %x : tensor<1x32x32x64xf32>
  %0 = nn.conv2d %y, %w0 {layout = "NHWC"} : (tensor<1x32x32x64xf32>, tensor<64x64x1x1xf32>) -> tensor<1x32x32x64xf32>
  %1 = nn.conv2d %0, %w1 {layout = "NHWC", pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>} : (tensor<1x32x32x64xf32>, tensor<32x64x3x3xf32>) -> tensor<1x16x16x32xf32>
  %2 = nn.conv2d %1, %w2 {layout = "NHWC"} : (tensor<1x16x16x32xf32>, tensor<128x32x1x1xf32>) -> tensor<1x16x16x128xf32>
  %3 = nn.conv2d %y, %w3 {layout = "NHWC", strides = array<i64: 2, 2>} : (tensor<1x32x32x64xf32>, tensor<128x64x1x1xf32>) -> tensor<1x16x16x128xf32>
  %4 = nn.add %2, %3 : tensor<1x16x16x128xf32>
  %5 = nn.reduce_mean %4 {axes = array<i64: 1, 2>, keepdims} : (tensor<1x16x16x128xf32>) -> tensor<1x1x1x128xf32>
  return %5 : tensor<1x1x1x128xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x32x32x64xf32>) -> tensor<1x1x1x128xf32> attributes {optc.arena = 339392 : i64, optc.stage = "plan", optc.target = "cpu", optc.threads = 1 : i64} {
//     %0 = nn.constant dense<5.000000e-01> : tensor<64x64x1x1xf32>
//     %1 = nn.constant dense<2.500000e-01> : tensor<32x64x3x3xf32>
//     %2 = nn.constant dense<1.250000e-01> : tensor<128x32x1x1xf32>
//     %3 = nn.constant dense<6.250000e-02> : tensor<128x64x1x1xf32>
//     %4 = nn.neg %arg0 {mem.kernel = "pointwise", mem.place = [["arena", 0, 262144]]} : tensor<1x32x32x64xf32>
//     %5 = optc.group(%arg1 = %4, %arg2 = %0, %arg3 = %1) {mem.kernel = "lines", mem.lines, mem.place = [["arena", 306624, 32768], ["arena", 262144, 44480]], mem.scratch = 44480 : i64} : (tensor<1x32x32x64xf32>, tensor<64x64x1x1xf32>, tensor<32x64x3x3xf32>) -> tensor<1x16x16x32xf32> {
//       %9 = nn.conv2d %arg1, %arg2 {layout = "NHWC"} : (tensor<1x32x32x64xf32>, tensor<64x64x1x1xf32>) -> tensor<1x32x32x64xf32>
//       %10 = nn.conv2d %9, %arg3 {layout = "NHWC", pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>} : (tensor<1x32x32x64xf32>, tensor<32x64x3x3xf32>) -> tensor<1x16x16x32xf32>
//       optc.yield %10 : tensor<1x16x16x32xf32>
//     }
//     %6 = nn.conv2d %4, %3 {layout = "NHWC", mem.kernel = "conv2d", mem.overlap = array<i64: 0, -1>, mem.place = [["arena", 131072, 131072], ["arena", 262144, 44480]], mem.scratch = 44480 : i64, strides = array<i64: 2, 2>} : (tensor<1x32x32x64xf32>, tensor<128x64x1x1xf32>) -> tensor<1x16x16x128xf32>
//     %7 = optc.group(%arg1 = %5, %arg2 = %2, %arg3 = %6) {mem.kernel = "conv2d", mem.place = [["arena", 131072, 131072]], mem.tie = array<i64: 2>} : (tensor<1x16x16x32xf32>, tensor<128x32x1x1xf32>, tensor<1x16x16x128xf32>) -> tensor<1x16x16x128xf32> {
//       %9 = nn.conv2d %arg1, %arg2 {layout = "NHWC"} : (tensor<1x16x16x32xf32>, tensor<128x32x1x1xf32>) -> tensor<1x16x16x128xf32>
//       %10 = nn.add %9, %arg3 : tensor<1x16x16x128xf32>
//       optc.yield %10 : tensor<1x16x16x128xf32>
//     }
//     %8 = nn.reduce_mean %7 {axes = array<i64: 1, 2>, keepdims, mem.kernel = "reduce", mem.place = [["out", 0, 512]]} : (tensor<1x16x16x128xf32>) -> tensor<1x1x1x128xf32>
//     return %8 : tensor<1x1x1x128xf32>
//   }
// }
