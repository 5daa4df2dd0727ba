// RUN: optc --passes=layout,fuse,precision,inplace
// A residual is read as bf16 and added as f32; the result may overwrite it, since both are stored alike.

func.func @main(%x: tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32> {
  %w = nn.constant dense<0.3> : tensor<16x16x3x3xf32>
  %0 = nn.conv2d %x, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x16x8x8xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x8x8xf32>
  %1 = nn.conv2d %0, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x16x8x8xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x8x8xf32>
  %2 = nn.add %1, %0 : tensor<1x16x8x8xf32>
  %3 = nn.relu %2 : tensor<1x16x8x8xf32>
  %4 = nn.conv2d %3, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x16x8x8xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x8x8xf32>
  return %4 : tensor<1x16x8x8xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32> attributes {optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.constant dense<3.000000e-01> : tensor<16x16x3x3xf32>
//     %1 = nn.transpose %arg0 {mem.kernel = "copy", permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x16x8x8xf32>) -> tensor<1x8x8x16xf32>
//     %2 = optc.group(%arg1 = %1, %arg2 = %0) {mem.kernel = "conv2d_bf16", mem.scratch = 5120 : i64} : (tensor<1x8x8x16xf32>, tensor<16x16x3x3xf32>) -> tensor<1x8x8x16xbf16> {
//       %6 = nn.cast %arg1 {to = bf16} : (tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xbf16>
//       %7 = nn.cast %6 {to = f32} : (tensor<1x8x8x16xbf16>) -> tensor<1x8x8x16xf32>
//       %8 = nn.cast %arg2 {to = bf16} : (tensor<16x16x3x3xf32>) -> tensor<16x16x3x3xbf16>
//       %9 = nn.cast %8 {to = f32} : (tensor<16x16x3x3xbf16>) -> tensor<16x16x3x3xf32>
//       %10 = nn.conv2d %7, %9 {layout = "NHWC", pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x8x16xf32>, tensor<16x16x3x3xf32>) -> tensor<1x8x8x16xf32>
//       %11 = nn.cast %10 {to = bf16} : (tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xbf16>
//       optc.yield %11 : tensor<1x8x8x16xbf16>
//     }
//     %3 = optc.group(%arg1 = %2, %arg2 = %0) {mem.kernel = "conv2d_bf16", mem.scratch = 5120 : i64} : (tensor<1x8x8x16xbf16>, tensor<16x16x3x3xf32>) -> tensor<1x8x8x16xbf16> {
//       %6 = nn.cast %arg1 {to = f32} : (tensor<1x8x8x16xbf16>) -> tensor<1x8x8x16xf32>
//       %7 = nn.cast %arg2 {to = bf16} : (tensor<16x16x3x3xf32>) -> tensor<16x16x3x3xbf16>
//       %8 = nn.cast %7 {to = f32} : (tensor<16x16x3x3xbf16>) -> tensor<16x16x3x3xf32>
//       %9 = nn.conv2d %6, %8 {layout = "NHWC", pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x8x16xf32>, tensor<16x16x3x3xf32>) -> tensor<1x8x8x16xf32>
//       %10 = nn.add %9, %6 : tensor<1x8x8x16xf32>
//       %11 = nn.relu %10 : tensor<1x8x8x16xf32>
//       %12 = nn.cast %11 {to = bf16} : (tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xbf16>
//       optc.yield %12 : tensor<1x8x8x16xbf16>
//     }
//     %4 = optc.group(%arg1 = %3, %arg2 = %0) {mem.kernel = "conv2d_bf16", mem.scratch = 5120 : i64} : (tensor<1x8x8x16xbf16>, tensor<16x16x3x3xf32>) -> tensor<1x8x8x16xf32> {
//       %6 = nn.cast %arg1 {to = f32} : (tensor<1x8x8x16xbf16>) -> tensor<1x8x8x16xf32>
//       %7 = nn.cast %arg2 {to = bf16} : (tensor<16x16x3x3xf32>) -> tensor<16x16x3x3xbf16>
//       %8 = nn.cast %7 {to = f32} : (tensor<16x16x3x3xbf16>) -> tensor<16x16x3x3xf32>
//       %9 = nn.conv2d %6, %8 {layout = "NHWC", pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x8x16xf32>, tensor<16x16x3x3xf32>) -> tensor<1x8x8x16xf32>
//       optc.yield %9 : tensor<1x8x8x16xf32>
//     }
//     %5 = nn.transpose %4 {mem.kernel = "copy", permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x8x8x16xf32>) -> tensor<1x16x8x8xf32>
//     return %5 : tensor<1x16x8x8xf32>
//   }
// }
