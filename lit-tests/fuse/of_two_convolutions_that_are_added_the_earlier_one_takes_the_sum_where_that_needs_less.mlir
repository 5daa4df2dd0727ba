// RUN: optc --passes=fuse,schedule,inplace,plan
// Either convolution could take the sum. Here the earlier one lets the norm overwrite %0, which lowers the
// peak; always choosing the later one would miss that.

func.func @main(%x: tensor<1x64x64x16xf32>) -> tensor<1x1x1x8xf32> {
  %s = nn.constant dense<0.5> : tensor<16xf32>
  %b = nn.constant dense<0.25> : tensor<16xf32>
  %v = nn.constant dense<0.125> : tensor<8x16x3x3xf32>
  %w = nn.constant dense<0.5> : tensor<8x16x1x1xf32>
  %0 = nn.neg %x : tensor<1x64x64x16xf32>
  %1 = nn.group_norm %0, %s, %b {axis = 3 : i64, axes = array<i64: 1, 2>, groups = 2 : i64} : (tensor<1x64x64x16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<1x64x64x16xf32>
  %2 = nn.conv2d %1, %v {layout = "NHWC", pads = array<i64: 1, 1, 1, 1>} : (tensor<1x64x64x16xf32>, tensor<8x16x3x3xf32>) -> tensor<1x64x64x8xf32>
  %3 = nn.conv2d %0, %w {layout = "NHWC"} : (tensor<1x64x64x16xf32>, tensor<8x16x1x1xf32>) -> tensor<1x64x64x8xf32>
  %4 = nn.add %2, %3 : tensor<1x64x64x8xf32>
  %5 = nn.reduce_mean %4 {axes = array<i64: 1, 2>, keepdims} : (tensor<1x64x64x8xf32>) -> tensor<1x1x1x8xf32>
  return %5 : tensor<1x1x1x8xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x64x64x16xf32>) -> tensor<1x1x1x8xf32> attributes {optc.arena = 401344 : i64, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.neg %arg0 {mem.kernel = "pointwise", mem.place = [["arena", 0, 262144]]} : tensor<1x64x64x16xf32>
//     %1 = nn.constant dense<5.000000e-01> : tensor<8x16x1x1xf32>
//     %2 = nn.conv2d %0, %1 {layout = "NHWC", mem.kernel = "conv2d", mem.place = [["arena", 262144, 131072]]} : (tensor<1x64x64x16xf32>, tensor<8x16x1x1xf32>) -> tensor<1x64x64x8xf32>
//     %3 = nn.constant dense<5.000000e-01> : tensor<16xf32>
//     %4 = nn.constant dense<2.500000e-01> : tensor<16xf32>
//     %5 = nn.group_norm %0, %3, %4 {axes = array<i64: 1, 2>, axis = 3 : i64, groups = 2 : i64, mem.kernel = "group_norm", mem.place = [["arena", 0, 262144], ["arena", 393216, 768]], mem.scratch = 768 : i64, mem.tie = array<i64: 0>} : (tensor<1x64x64x16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<1x64x64x16xf32>
//     %6 = nn.constant dense<1.250000e-01> : tensor<8x16x3x3xf32>
//     %7 = optc.group(%arg1 = %5, %arg2 = %6, %arg3 = %2) {mem.kernel = "conv2d", mem.place = [["arena", 262144, 131072], ["arena", 393216, 8128]], mem.scratch = 8128 : i64, mem.tie = array<i64: 2>} : (tensor<1x64x64x16xf32>, tensor<8x16x3x3xf32>, tensor<1x64x64x8xf32>) -> tensor<1x64x64x8xf32> {
//       %9 = nn.conv2d %arg1, %arg2 {layout = "NHWC", pads = array<i64: 1, 1, 1, 1>} : (tensor<1x64x64x16xf32>, tensor<8x16x3x3xf32>) -> tensor<1x64x64x8xf32>
//       %10 = nn.add %9, %arg3 : tensor<1x64x64x8xf32>
//       optc.yield %10 : tensor<1x64x64x8xf32>
//     }
//     %8 = nn.reduce_mean %7 {axes = array<i64: 1, 2>, keepdims, mem.kernel = "reduce", mem.place = [["out", 0, 32]]} : (tensor<1x64x64x8xf32>) -> tensor<1x1x1x8xf32>
//     return %8 : tensor<1x1x1x8xf32>
//   }
// }
