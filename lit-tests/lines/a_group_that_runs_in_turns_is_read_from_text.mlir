// RUN: optc --passes='plan{optimize=memory}'
// A group with `mem.lines` is read back from text, and `select` asks the target how much scratch its line
// buffers need.

func.func @main(%x: tensor<1x32x16x4xf32>) -> tensor<1x16x8x4xf32> {
  %w = nn.constant dense<0.5> : tensor<32x4x1x1xf32>
  %0 = nn.neg %x : tensor<1x32x16x4xf32>
  %1 = optc.group(%a = %0, %b = %w) {mem.lines} : (tensor<1x32x16x4xf32>, tensor<32x4x1x1xf32>) -> tensor<1x16x8x32xf32> {
    %3 = nn.conv2d %a, %b {layout = "NHWC"} : (tensor<1x32x16x4xf32>, tensor<32x4x1x1xf32>) -> tensor<1x32x16x32xf32>
    %4 = nn.max_pool2d %3 {kernel = array<i64: 2, 2>, layout = "NHWC", strides = array<i64: 2, 2>} : (tensor<1x32x16x32xf32>) -> tensor<1x16x8x32xf32>
    optc.yield %4 : tensor<1x16x8x32xf32>
  }
  %u = nn.constant dense<0.125> : tensor<4x32x1x1xf32>
  %2 = nn.conv2d %1, %u {layout = "NHWC"} : (tensor<1x16x8x32xf32>, tensor<4x32x1x1xf32>) -> tensor<1x16x8x4xf32>
  return %2 : tensor<1x16x8x4xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x32x16x4xf32>) -> tensor<1x16x8x4xf32> attributes {optc.arena = 28672 : i64, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.constant dense<5.000000e-01> : tensor<32x4x1x1xf32>
//     %1 = nn.neg %arg0 {mem.kernel = "pointwise", mem.place = [["arena", 16384, 8192]]} : tensor<1x32x16x4xf32>
//     %2 = optc.group(%arg1 = %1, %arg2 = %0) {mem.kernel = "lines", mem.lines, mem.place = [["arena", 0, 16384], ["arena", 24576, 4096]], mem.scratch = 4096 : i64} : (tensor<1x32x16x4xf32>, tensor<32x4x1x1xf32>) -> tensor<1x16x8x32xf32> {
//       %5 = nn.conv2d %arg1, %arg2 {layout = "NHWC"} : (tensor<1x32x16x4xf32>, tensor<32x4x1x1xf32>) -> tensor<1x32x16x32xf32>
//       %6 = nn.max_pool2d %5 {kernel = array<i64: 2, 2>, layout = "NHWC", strides = array<i64: 2, 2>} : (tensor<1x32x16x32xf32>) -> tensor<1x16x8x32xf32>
//       optc.yield %6 : tensor<1x16x8x32xf32>
//     }
//     %3 = nn.constant dense<1.250000e-01> : tensor<4x32x1x1xf32>
//     %4 = nn.conv2d %2, %3 {layout = "NHWC", mem.kernel = "conv2d", mem.place = [["out", 0, 2048]]} : (tensor<1x16x8x32xf32>, tensor<4x32x1x1xf32>) -> tensor<1x16x8x4xf32>
//     return %4 : tensor<1x16x8x4xf32>
//   }
// }
