// RUN: optc --passes=fuse,inplace
// The window of a convolution reads neighbours after their pixel is written, so its input cannot also be its
// accumulator.

func.func @main(%arg0: tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32> {
  %w = nn.constant dense<0.5> : tensor<8x8x3x3xf32>
  %0 = nn.exp %arg0 : tensor<1x4x4x8xf32>
  %1 = nn.conv2d %0, %w {pads = array<i64: 1, 1, 1, 1>, layout = "NHWC"} : (tensor<1x4x4x8xf32>, tensor<8x8x3x3xf32>) -> tensor<1x4x4x8xf32>
  %2 = nn.add %1, %0 : tensor<1x4x4x8xf32>
  return %2 : tensor<1x4x4x8xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32> attributes {optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.constant dense<5.000000e-01> : tensor<8x8x3x3xf32>
//     %1 = nn.exp %arg0 {mem.kernel = "pointwise"} : tensor<1x4x4x8xf32>
//     %2 = optc.group(%arg1 = %1, %arg2 = %0) {mem.kernel = "conv2d", mem.scratch = 5184 : i64} : (tensor<1x4x4x8xf32>, tensor<8x8x3x3xf32>) -> tensor<1x4x4x8xf32> {
//       %3 = nn.conv2d %arg1, %arg2 {layout = "NHWC", pads = array<i64: 1, 1, 1, 1>} : (tensor<1x4x4x8xf32>, tensor<8x8x3x3xf32>) -> tensor<1x4x4x8xf32>
//       %4 = nn.add %3, %arg1 : tensor<1x4x4x8xf32>
//       optc.yield %4 : tensor<1x4x4x8xf32>
//     }
//     return %2 : tensor<1x4x4x8xf32>
//   }
// }
