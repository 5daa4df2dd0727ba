// RUN: optc --passes='plan{optimize=memory}'
// The result has wider rows than the image and catches up with what is read at the last row, so it may
// overlap the image if it ends one row above.

func.func @main(%x: tensor<1x16x16x16xf32>) -> tensor<1x32xf32> {
  %w = nn.constant dense<0.5> : tensor<32x16x1x1xf32>
  %0 = nn.neg %x : tensor<1x16x16x16xf32>
  %1 = nn.conv2d %0, %w {layout = "NHWC"} : (tensor<1x16x16x16xf32>, tensor<32x16x1x1xf32>) -> tensor<1x16x16x32xf32>
  %2 = nn.reduce_mean %1 {axes = array<i64: 1, 2>} : (tensor<1x16x16x32xf32>) -> tensor<1x32xf32>
  return %2 : tensor<1x32xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x16x16x16xf32>) -> tensor<1x32xf32> attributes {optc.arena = 33792 : i64, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.constant dense<5.000000e-01> : tensor<32x16x1x1xf32>
//     %1 = nn.neg %arg0 {mem.kernel = "pointwise", mem.place = [["arena", 17408, 16384]]} : tensor<1x16x16x16xf32>
//     %2 = nn.conv2d %1, %0 {layout = "NHWC", mem.kernel = "conv2d", mem.overlap = array<i64: 0, 1>, mem.place = [["arena", 0, 32768]]} : (tensor<1x16x16x16xf32>, tensor<32x16x1x1xf32>) -> tensor<1x16x16x32xf32>
//     %3 = nn.reduce_mean %2 {axes = array<i64: 1, 2>, mem.kernel = "reduce", mem.place = [["out", 0, 128]]} : (tensor<1x16x16x32xf32>) -> tensor<1x32xf32>
//     return %3 : tensor<1x32xf32>
//   }
// }
