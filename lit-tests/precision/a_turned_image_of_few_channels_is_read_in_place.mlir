// RUN: optc --passes=layout,fuse,precision,inplace
// The kernel copies lines of the image, in any order of its axes as fast, and rounds them: the transpose is
// only a view.

func.func @main(%x: tensor<1x3x40x40xf32>) -> tensor<1x16x20x20xf32> {
  %w = nn.constant dense<0.3> : tensor<16x3x3x3xf32>
  %0 = nn.conv2d %x, %w {pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>} : (tensor<1x3x40x40xf32>, tensor<16x3x3x3xf32>) -> tensor<1x16x20x20xf32>
  return %0 : tensor<1x16x20x20xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x3x40x40xf32>) -> tensor<1x16x20x20xf32> attributes {optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.constant dense<3.000000e-01> : tensor<16x3x3x3xf32>
//     %1 = nn.transpose %arg0 {mem.view, permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x3x40x40xf32>) -> tensor<1x40x40x3xf32>
//     %2 = optc.group(%arg1 = %1, %arg2 = %0) {mem.kernel = "conv2d_bf16", mem.scratch = 17664 : i64} : (tensor<1x40x40x3xf32>, tensor<16x3x3x3xf32>) -> tensor<1x20x20x16xf32> {
//       %4 = nn.cast %arg1 {to = bf16} : (tensor<1x40x40x3xf32>) -> tensor<1x40x40x3xbf16>
//       %5 = nn.cast %4 {to = f32} : (tensor<1x40x40x3xbf16>) -> tensor<1x40x40x3xf32>
//       %6 = nn.cast %arg2 {to = bf16} : (tensor<16x3x3x3xf32>) -> tensor<16x3x3x3xbf16>
//       %7 = nn.cast %6 {to = f32} : (tensor<16x3x3x3xbf16>) -> tensor<16x3x3x3xf32>
//       %8 = nn.conv2d %5, %7 {layout = "NHWC", pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>} : (tensor<1x40x40x3xf32>, tensor<16x3x3x3xf32>) -> tensor<1x20x20x16xf32>
//       optc.yield %8 : tensor<1x20x20x16xf32>
//     }
//     %3 = nn.transpose %2 {mem.kernel = "copy", permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x20x20x16xf32>) -> tensor<1x16x20x20xf32>
//     return %3 : tensor<1x16x20x20xf32>
//   }
// }
