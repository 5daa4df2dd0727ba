// RUN: optc --passes='layout,fuse,precision,inplace,plan{optimize=speed}'
// Between products images are bf16; the algorithm computes with f32 all the same.

func.func @main(%x: tensor<1x32x16x16xf32>) -> tensor<1x32x16x16xf32> {
  %w = nn.constant dense<0.3> : tensor<32x32x3x3xf32>
  %0 = nn.conv2d %x, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x32x16x16xf32>, tensor<32x32x3x3xf32>) -> tensor<1x32x16x16xf32>
  %1 = nn.conv2d %0, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x32x16x16xf32>, tensor<32x32x3x3xf32>) -> tensor<1x32x16x16xf32>
  %2 = nn.relu %1 : tensor<1x32x16x16xf32>
  %3 = nn.conv2d %2, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x32x16x16xf32>, tensor<32x32x3x3xf32>) -> tensor<1x32x16x16xf32>
  return %3 : tensor<1x32x16x16xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x32x16x16xf32>) -> tensor<1x32x16x16xf32> attributes {optc.arena = 334720 : i64, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.constant dense<3.000000e-01> : tensor<32x32x3x3xf32>
//     %1 = nn.transpose %arg0 {mem.kernel = "copy", mem.place = [["out", 0, 32768]], permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x32x16x16xf32>) -> tensor<1x16x16x32xf32>
//     %2 = optc.group(%arg1 = %1, %arg2 = %0) {mem.kernel = "winograd", mem.method = "winograd", mem.place = [["arena", 301952, 16384], ["arena", 0, 301952]], mem.scratch = 301952 : i64} : (tensor<1x16x16x32xf32>, tensor<32x32x3x3xf32>) -> tensor<1x16x16x32xbf16> {
//       %6 = nn.cast %arg1 {to = bf16} : (tensor<1x16x16x32xf32>) -> tensor<1x16x16x32xbf16>
//       %7 = nn.cast %6 {to = f32} : (tensor<1x16x16x32xbf16>) -> tensor<1x16x16x32xf32>
//       %8 = nn.cast %arg2 {to = bf16} : (tensor<32x32x3x3xf32>) -> tensor<32x32x3x3xbf16>
//       %9 = nn.cast %8 {to = f32} : (tensor<32x32x3x3xbf16>) -> tensor<32x32x3x3xf32>
//       %10 = nn.conv2d %7, %9 {layout = "NHWC", pads = array<i64: 1, 1, 1, 1>} : (tensor<1x16x16x32xf32>, tensor<32x32x3x3xf32>) -> tensor<1x16x16x32xf32>
//       %11 = nn.cast %10 {to = bf16} : (tensor<1x16x16x32xf32>) -> tensor<1x16x16x32xbf16>
//       optc.yield %11 : tensor<1x16x16x32xbf16>
//     }
//     %3 = optc.group(%arg1 = %2, %arg2 = %0) {mem.kernel = "winograd", mem.method = "winograd", mem.place = [["out", 0, 16384], ["arena", 0, 301952]], mem.scratch = 301952 : i64} : (tensor<1x16x16x32xbf16>, tensor<32x32x3x3xf32>) -> tensor<1x16x16x32xbf16> {
//       %6 = nn.cast %arg1 {to = f32} : (tensor<1x16x16x32xbf16>) -> tensor<1x16x16x32xf32>
//       %7 = nn.cast %arg2 {to = bf16} : (tensor<32x32x3x3xf32>) -> tensor<32x32x3x3xbf16>
//       %8 = nn.cast %7 {to = f32} : (tensor<32x32x3x3xbf16>) -> tensor<32x32x3x3xf32>
//       %9 = nn.conv2d %6, %8 {layout = "NHWC", pads = array<i64: 1, 1, 1, 1>} : (tensor<1x16x16x32xf32>, tensor<32x32x3x3xf32>) -> tensor<1x16x16x32xf32>
//       %10 = nn.relu %9 : tensor<1x16x16x32xf32>
//       %11 = nn.cast %10 {to = bf16} : (tensor<1x16x16x32xf32>) -> tensor<1x16x16x32xbf16>
//       optc.yield %11 : tensor<1x16x16x32xbf16>
//     }
//     %4 = optc.group(%arg1 = %3, %arg2 = %0) {mem.kernel = "winograd", mem.method = "winograd", mem.place = [["arena", 301952, 32768], ["arena", 0, 301952]], mem.scratch = 301952 : i64} : (tensor<1x16x16x32xbf16>, tensor<32x32x3x3xf32>) -> tensor<1x16x16x32xf32> {
//       %6 = nn.cast %arg1 {to = f32} : (tensor<1x16x16x32xbf16>) -> tensor<1x16x16x32xf32>
//       %7 = nn.cast %arg2 {to = bf16} : (tensor<32x32x3x3xf32>) -> tensor<32x32x3x3xbf16>
//       %8 = nn.cast %7 {to = f32} : (tensor<32x32x3x3xbf16>) -> tensor<32x32x3x3xf32>
//       %9 = nn.conv2d %6, %8 {layout = "NHWC", pads = array<i64: 1, 1, 1, 1>} : (tensor<1x16x16x32xf32>, tensor<32x32x3x3xf32>) -> tensor<1x16x16x32xf32>
//       optc.yield %9 : tensor<1x16x16x32xf32>
//     }
//     %5 = nn.transpose %4 {mem.kernel = "copy", mem.place = [["out", 0, 32768]], permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x16x16x32xf32>) -> tensor<1x32x16x16xf32>
//     return %5 : tensor<1x32x16x16xf32>
//   }
// }
