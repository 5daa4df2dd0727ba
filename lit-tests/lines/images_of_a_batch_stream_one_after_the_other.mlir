// RUN: optc --passes='select,lines,inplace,plan{optimize=memory}'
// The images of a batch stream one after the other through the same line buffers.

func.func @main(%x: tensor<2x32x16x4xf32>) -> tensor<2x16x8x4xf32> {
  %w = nn.constant dense<0.5> : tensor<32x4x1x1xf32>
  %0 = nn.neg %x : tensor<2x32x16x4xf32>
  %1 = nn.conv2d %0, %w {layout = "NHWC"} : (tensor<2x32x16x4xf32>, tensor<32x4x1x1xf32>) -> tensor<2x32x16x32xf32>
  %v = nn.constant dense<0.5> : tensor<4x32x1x1xf32>
  %2 = nn.conv2d %1, %v {layout = "NHWC", strides = array<i64: 2, 2>} : (tensor<2x32x16x32xf32>, tensor<4x32x1x1xf32>) -> tensor<2x16x8x4xf32>
  return %2 : tensor<2x16x8x4xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<2x32x16x4xf32>) -> tensor<2x16x8x4xf32> attributes {optc.arena = 25280 : i64, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.constant dense<5.000000e-01> : tensor<32x4x1x1xf32>
//     %1 = nn.neg %arg0 {mem.kernel = "pointwise", mem.place = [["arena", 0, 16384]]} : tensor<2x32x16x4xf32>
//     %2 = nn.constant dense<5.000000e-01> : tensor<4x32x1x1xf32>
//     %3 = optc.group(%arg1 = %1, %arg2 = %0, %arg3 = %2) {mem.kernel = "lines", mem.lines, mem.place = [["out", 0, 4096], ["arena", 16384, 8896]], mem.scratch = 8896 : i64} : (tensor<2x32x16x4xf32>, tensor<32x4x1x1xf32>, tensor<4x32x1x1xf32>) -> tensor<2x16x8x4xf32> {
//       %4 = nn.conv2d %arg1, %arg2 {layout = "NHWC"} : (tensor<2x32x16x4xf32>, tensor<32x4x1x1xf32>) -> tensor<2x32x16x32xf32>
//       %5 = nn.conv2d %4, %arg3 {layout = "NHWC", strides = array<i64: 2, 2>} : (tensor<2x32x16x32xf32>, tensor<4x32x1x1xf32>) -> tensor<2x16x8x4xf32>
//       optc.yield %5 : tensor<2x16x8x4xf32>
//     }
//     return %3 : tensor<2x16x8x4xf32>
//   }
// }
