// RUN: optc --passes=layout,fuse,precision,inplace
// Where each channel is a group of its own, images are stored as bf16, but weights and products stay f32.

func.func @main(%x: tensor<1x32x8x8xf32>) -> tensor<1x32x8x8xf32> {
  %w = nn.constant dense<0.3> : tensor<32x1x3x3xf32>
  %0 = nn.conv2d %x, %w {groups = 32 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x32x8x8xf32>, tensor<32x1x3x3xf32>) -> tensor<1x32x8x8xf32>
  %1 = nn.silu %0 : tensor<1x32x8x8xf32>
  %2 = nn.conv2d %1, %w {groups = 32 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x32x8x8xf32>, tensor<32x1x3x3xf32>) -> tensor<1x32x8x8xf32>
  return %2 : tensor<1x32x8x8xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x32x8x8xf32>) -> tensor<1x32x8x8xf32> attributes {optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.constant dense<3.000000e-01> : tensor<32x1x3x3xf32>
//     %1 = nn.transpose %arg0 {mem.kernel = "copy", permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x32x8x8xf32>) -> tensor<1x8x8x32xf32>
//     %2 = optc.group(%arg1 = %1, %arg2 = %0) {mem.kernel = "depthwise_bf16"} : (tensor<1x8x8x32xf32>, tensor<32x1x3x3xf32>) -> tensor<1x8x8x32xbf16> {
//       %5 = nn.conv2d %arg1, %arg2 {groups = 32 : i64, layout = "NHWC", pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x8x32xf32>, tensor<32x1x3x3xf32>) -> tensor<1x8x8x32xf32>
//       %6 = nn.silu %5 : tensor<1x8x8x32xf32>
//       %7 = nn.cast %6 {to = bf16} : (tensor<1x8x8x32xf32>) -> tensor<1x8x8x32xbf16>
//       optc.yield %7 : tensor<1x8x8x32xbf16>
//     }
//     %3 = optc.group(%arg1 = %2, %arg2 = %0) {mem.kernel = "depthwise_bf16"} : (tensor<1x8x8x32xbf16>, tensor<32x1x3x3xf32>) -> tensor<1x8x8x32xf32> {
//       %5 = nn.cast %arg1 {to = f32} : (tensor<1x8x8x32xbf16>) -> tensor<1x8x8x32xf32>
//       %6 = nn.conv2d %5, %arg2 {groups = 32 : i64, layout = "NHWC", pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x8x32xf32>, tensor<32x1x3x3xf32>) -> tensor<1x8x8x32xf32>
//       optc.yield %6 : tensor<1x8x8x32xf32>
//     }
//     %4 = nn.transpose %3 {mem.kernel = "copy", permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x8x8x32xf32>) -> tensor<1x32x8x8xf32>
//     return %4 : tensor<1x32x8x8xf32>
//   }
// }
