// RUN: optc --passes='select,lines,inplace,plan{optimize=memory}'
// Row streaming keeps three rows of the wide middle image in scratch. The arena is then smaller than that
// image.

func.func @main(%x: tensor<1x32x16x4xf32>) -> tensor<1x32x16x4xf32> {
  %w = nn.constant dense<0.5> : tensor<32x4x1x1xf32>
  %v = nn.constant dense<0.25> : tensor<32x1x3x3xf32>
  %u = nn.constant dense<0.125> : tensor<4x32x1x1xf32>
  %0 = nn.neg %x : tensor<1x32x16x4xf32>
  %1 = nn.conv2d %0, %w {layout = "NHWC"} : (tensor<1x32x16x4xf32>, tensor<32x4x1x1xf32>) -> tensor<1x32x16x32xf32>
  %2 = nn.conv2d %1, %v {groups = 32 : i64, layout = "NHWC", pads = array<i64: 1, 1, 1, 1>} : (tensor<1x32x16x32xf32>, tensor<32x1x3x3xf32>) -> tensor<1x32x16x32xf32>
  %3 = nn.conv2d %2, %u {layout = "NHWC"} : (tensor<1x32x16x32xf32>, tensor<4x32x1x1xf32>) -> tensor<1x32x16x4xf32>
  %4 = nn.neg %3 : tensor<1x32x16x4xf32>
  return %4 : tensor<1x32x16x4xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x32x16x4xf32>) -> tensor<1x32x16x4xf32> attributes {optc.arena = 20480 : i64, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.constant dense<5.000000e-01> : tensor<32x4x1x1xf32>
//     %1 = nn.constant dense<2.500000e-01> : tensor<32x1x3x3xf32>
//     %2 = nn.constant dense<1.250000e-01> : tensor<4x32x1x1xf32>
//     %3 = nn.neg %arg0 {mem.kernel = "pointwise", mem.place = [["arena", 12288, 8192]]} : tensor<1x32x16x4xf32>
//     %4 = optc.group(%arg1 = %3, %arg2 = %0, %arg3 = %1, %arg4 = %2) {mem.kernel = "lines", mem.lines, mem.place = [["out", 0, 8192], ["arena", 0, 12288]], mem.scratch = 12288 : i64} : (tensor<1x32x16x4xf32>, tensor<32x4x1x1xf32>, tensor<32x1x3x3xf32>, tensor<4x32x1x1xf32>) -> tensor<1x32x16x4xf32> {
//       %6 = nn.conv2d %arg1, %arg2 {layout = "NHWC"} : (tensor<1x32x16x4xf32>, tensor<32x4x1x1xf32>) -> tensor<1x32x16x32xf32>
//       %7 = nn.conv2d %6, %arg3 {groups = 32 : i64, layout = "NHWC", pads = array<i64: 1, 1, 1, 1>} : (tensor<1x32x16x32xf32>, tensor<32x1x3x3xf32>) -> tensor<1x32x16x32xf32>
//       %8 = nn.conv2d %7, %arg4 {layout = "NHWC"} : (tensor<1x32x16x32xf32>, tensor<4x32x1x1xf32>) -> tensor<1x32x16x4xf32>
//       optc.yield %8 : tensor<1x32x16x4xf32>
//     }
//     %5 = nn.neg %4 {mem.kernel = "pointwise", mem.place = [["out", 0, 8192]], mem.tie = array<i64: 0>} : tensor<1x32x16x4xf32>
//     return %5 : tensor<1x32x16x4xf32>
//   }
// }
