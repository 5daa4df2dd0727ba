// RUN: optc --passes=fuse,inplace
// Accumulation also works where the residual is a sub-buffer of a concatenation, with the concatenation's row
// pitch.

func.func @main(%x: tensor<1x6x6x8xf32>) -> tensor<1x6x6x16xf32> {
  %w = nn.constant dense<0.5> : tensor<8x8x3x3xf32>
  %0 = nn.conv2d %x, %w {layout = "NHWC", pads = array<i64: 1, 1, 1, 1>} : (tensor<1x6x6x8xf32>, tensor<8x8x3x3xf32>) -> tensor<1x6x6x8xf32>
  %1 = nn.conv2d %0, %w {layout = "NHWC", pads = array<i64: 1, 1, 1, 1>} : (tensor<1x6x6x8xf32>, tensor<8x8x3x3xf32>) -> tensor<1x6x6x8xf32>
  %2 = nn.conv2d %1, %w {layout = "NHWC", pads = array<i64: 1, 1, 1, 1>} : (tensor<1x6x6x8xf32>, tensor<8x8x3x3xf32>) -> tensor<1x6x6x8xf32>
  %3 = nn.add %2, %0 : tensor<1x6x6x8xf32>
  %4 = nn.exp %x : tensor<1x6x6x8xf32>
  %5 = nn.concat %3, %4 {axis = 3 : i64} : (tensor<1x6x6x8xf32>, tensor<1x6x6x8xf32>) -> tensor<1x6x6x16xf32>
  %6 = nn.softmax %5 {axis = 3 : i64} : tensor<1x6x6x16xf32>
  return %6 : tensor<1x6x6x16xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x6x6x8xf32>) -> tensor<1x6x6x16xf32> attributes {optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.constant dense<5.000000e-01> : tensor<8x8x3x3xf32>
//     %1 = nn.conv2d %arg0, %0 {layout = "NHWC", mem.kernel = "conv2d", mem.pitch = array<i64: 32, 64>, mem.scratch = 11584 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x6x6x8xf32>, tensor<8x8x3x3xf32>) -> tensor<1x6x6x8xf32>
//     %2 = nn.conv2d %1, %0 {layout = "NHWC", mem.kernel = "conv2d", mem.scratch = 11584 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x6x6x8xf32>, tensor<8x8x3x3xf32>) -> tensor<1x6x6x8xf32>
//     %3 = optc.group(%arg1 = %2, %arg2 = %0, %arg3 = %1) {mem.kernel = "conv2d", mem.pitch = array<i64: 32, 64>, mem.scratch = 11584 : i64, mem.tie = array<i64: 2>} : (tensor<1x6x6x8xf32>, tensor<8x8x3x3xf32>, tensor<1x6x6x8xf32>) -> tensor<1x6x6x8xf32> {
//       %7 = nn.conv2d %arg1, %arg2 {layout = "NHWC", pads = array<i64: 1, 1, 1, 1>} : (tensor<1x6x6x8xf32>, tensor<8x8x3x3xf32>) -> tensor<1x6x6x8xf32>
//       %8 = nn.add %7, %arg3 : tensor<1x6x6x8xf32>
//       optc.yield %8 : tensor<1x6x6x8xf32>
//     }
//     %4 = nn.exp %arg0 {mem.kernel = "pointwise", mem.pitch = array<i64: 32, 64>} : tensor<1x6x6x8xf32>
//     %5 = nn.concat %3, %4 {axis = 3 : i64, mem.parts = array<i64: 0, 1>} : (tensor<1x6x6x8xf32>, tensor<1x6x6x8xf32>) -> tensor<1x6x6x16xf32>
//     %6 = nn.softmax %5 {axis = 3 : i64, mem.kernel = "softmax", mem.tie = array<i64: 0>} : tensor<1x6x6x16xf32>
//     return %6 : tensor<1x6x6x16xf32>
//   }
// }
