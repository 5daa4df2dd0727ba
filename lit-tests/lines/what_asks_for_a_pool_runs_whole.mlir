// RUN: optc --passes='select,lines,inplace,plan{optimize=memory}'
// A streamed convolution would become part of a group, which has no pool of its own. The request for `vtcm`
// must not be lost.

func.func @main(%x: tensor<1x32x16x4xf32>) -> tensor<1x32x16x4xf32> attributes {optc.pools = {vtcm = {align = 64 : i64}}} {
  %w = nn.constant dense<0.5> : tensor<32x4x1x1xf32>
  %u = nn.constant dense<0.125> : tensor<4x32x1x1xf32>
  %0 = nn.neg %x : tensor<1x32x16x4xf32>
  %1 = nn.conv2d %0, %w {layout = "NHWC"} : (tensor<1x32x16x4xf32>, tensor<32x4x1x1xf32>) -> tensor<1x32x16x32xf32>
  %2 = nn.conv2d %1, %u {layout = "NHWC", mem.pool = ["vtcm"]} : (tensor<1x32x16x32xf32>, tensor<4x32x1x1xf32>) -> tensor<1x32x16x4xf32>
  %3 = nn.neg %2 : tensor<1x32x16x4xf32>
  return %3 : tensor<1x32x16x4xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x32x16x4xf32>) -> tensor<1x32x16x4xf32> attributes {optc.arena = 73728 : i64, optc.pools = {arena = {align = 64 : i64, bytes = 65536 : i64, start = 0 : i64}, vtcm = {align = 64 : i64, bytes = 8192 : i64, start = 65536 : i64}}, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.constant dense<5.000000e-01> : tensor<32x4x1x1xf32>
//     %1 = nn.constant dense<1.250000e-01> : tensor<4x32x1x1xf32>
//     %2 = nn.neg %arg0 {mem.kernel = "pointwise", mem.place = [["out", 0, 8192]]} : tensor<1x32x16x4xf32>
//     %3 = nn.conv2d %2, %0 {layout = "NHWC", mem.kernel = "conv2d", mem.place = [["arena", 0, 65536]]} : (tensor<1x32x16x4xf32>, tensor<32x4x1x1xf32>) -> tensor<1x32x16x32xf32>
//     %4 = nn.conv2d %3, %1 {layout = "NHWC", mem.kernel = "conv2d", mem.place = [["vtcm", 0, 8192]], mem.pool = ["vtcm"]} : (tensor<1x32x16x32xf32>, tensor<4x32x1x1xf32>) -> tensor<1x32x16x4xf32>
//     %5 = nn.neg %4 {mem.kernel = "pointwise", mem.place = [["out", 0, 8192]]} : tensor<1x32x16x4xf32>
//     return %5 : tensor<1x32x16x4xf32>
//   }
// }
