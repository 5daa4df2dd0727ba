// RUN: optc --passes=layout,fuse,precision
// One channel can't be read in pairs, and copies of it take longer than few products: the first convolution
// multiplies f32. The others, to many channels and from two, multiply bf16.

func.func @main(%x: tensor<1x1x20x20xf32>, %y: tensor<1x2x20x20xf32>)
    -> (tensor<1x32x20x20xf32>, tensor<1x33x20x20xf32>, tensor<1x16x20x20xf32>) {
  %u = nn.constant dense<0.3> : tensor<32x1x3x3xf32>
  %v = nn.constant dense<0.2> : tensor<33x1x3x3xf32>
  %w = nn.constant dense<0.1> : tensor<16x2x3x3xf32>
  %0 = nn.conv2d %x, %u {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x1x20x20xf32>, tensor<32x1x3x3xf32>) -> tensor<1x32x20x20xf32>
  %1 = nn.conv2d %x, %v {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x1x20x20xf32>, tensor<33x1x3x3xf32>) -> tensor<1x33x20x20xf32>
  %2 = nn.conv2d %y, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x2x20x20xf32>, tensor<16x2x3x3xf32>) -> tensor<1x16x20x20xf32>
  return %0, %1, %2 : tensor<1x32x20x20xf32>, tensor<1x33x20x20xf32>, tensor<1x16x20x20xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x1x20x20xf32>, %arg1: tensor<1x2x20x20xf32>) -> (tensor<1x32x20x20xf32>, tensor<1x33x20x20xf32>, tensor<1x16x20x20xf32>) attributes {optc.stage = "fuse"} {
//     %0 = nn.constant dense<3.000000e-01> : tensor<32x1x3x3xf32>
//     %1 = nn.constant dense<2.000000e-01> : tensor<33x1x3x3xf32>
//     %2 = nn.constant dense<1.000000e-01> : tensor<16x2x3x3xf32>
//     %3 = nn.reshape %arg0 {shape = array<i64: 1, 20, 20, 1>} : (tensor<1x1x20x20xf32>) -> tensor<1x20x20x1xf32>
//     %4 = nn.conv2d %3, %0 {layout = "NHWC", pads = array<i64: 1, 1, 1, 1>} : (tensor<1x20x20x1xf32>, tensor<32x1x3x3xf32>) -> tensor<1x20x20x32xf32>
//     %5 = nn.transpose %4 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x20x20x32xf32>) -> tensor<1x32x20x20xf32>
//     %6 = nn.reshape %arg0 {shape = array<i64: 1, 20, 20, 1>} : (tensor<1x1x20x20xf32>) -> tensor<1x20x20x1xf32>
//     %7 = optc.group(%arg2 = %6, %arg3 = %1) : (tensor<1x20x20x1xf32>, tensor<33x1x3x3xf32>) -> tensor<1x20x20x33xf32> {
//       %12 = nn.cast %arg2 {to = bf16} : (tensor<1x20x20x1xf32>) -> tensor<1x20x20x1xbf16>
//       %13 = nn.cast %12 {to = f32} : (tensor<1x20x20x1xbf16>) -> tensor<1x20x20x1xf32>
//       %14 = nn.cast %arg3 {to = bf16} : (tensor<33x1x3x3xf32>) -> tensor<33x1x3x3xbf16>
//       %15 = nn.cast %14 {to = f32} : (tensor<33x1x3x3xbf16>) -> tensor<33x1x3x3xf32>
//       %16 = nn.conv2d %13, %15 {layout = "NHWC", pads = array<i64: 1, 1, 1, 1>} : (tensor<1x20x20x1xf32>, tensor<33x1x3x3xf32>) -> tensor<1x20x20x33xf32>
//       optc.yield %16 : tensor<1x20x20x33xf32>
//     }
//     %8 = nn.transpose %7 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x20x20x33xf32>) -> tensor<1x33x20x20xf32>
//     %9 = nn.transpose %arg1 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x2x20x20xf32>) -> tensor<1x20x20x2xf32>
//     %10 = optc.group(%arg2 = %9, %arg3 = %2) : (tensor<1x20x20x2xf32>, tensor<16x2x3x3xf32>) -> tensor<1x20x20x16xf32> {
//       %12 = nn.cast %arg2 {to = bf16} : (tensor<1x20x20x2xf32>) -> tensor<1x20x20x2xbf16>
//       %13 = nn.cast %12 {to = f32} : (tensor<1x20x20x2xbf16>) -> tensor<1x20x20x2xf32>
//       %14 = nn.cast %arg3 {to = bf16} : (tensor<16x2x3x3xf32>) -> tensor<16x2x3x3xbf16>
//       %15 = nn.cast %14 {to = f32} : (tensor<16x2x3x3xbf16>) -> tensor<16x2x3x3xf32>
//       %16 = nn.conv2d %13, %15 {layout = "NHWC", pads = array<i64: 1, 1, 1, 1>} : (tensor<1x20x20x2xf32>, tensor<16x2x3x3xf32>) -> tensor<1x20x20x16xf32>
//       optc.yield %16 : tensor<1x20x20x16xf32>
//     }
//     %11 = nn.transpose %10 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x20x20x16xf32>) -> tensor<1x16x20x20xf32>
//     return %5, %8, %11 : tensor<1x32x20x20xf32>, tensor<1x33x20x20xf32>, tensor<1x16x20x20xf32>
//   }
// }
