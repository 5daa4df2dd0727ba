// RUN: optc --passes=inplace
// At stride 2, the kernel copies lines of an image of few channels, whatever the order of its axes. So the
// image is read in place, though that saves no byte: the peak is elsewhere. At stride 1 it is turned:
// Winograd's algorithm, which reads the image in place, may be faster there.

func.func @strided(%x: tensor<1x3x32x32xf32>, %y: tensor<64x1024xf32>) -> (tensor<1x16x16x8xf32>, tensor<64xf32>) {
  %w = nn.constant dense<0.5> : tensor<8x3x3x3xf32>
  %0 = nn.transpose %x {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x3x32x32xf32>) -> tensor<1x32x32x3xf32>
  %1 = nn.conv2d %0, %w {layout = "NHWC", pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>} : (tensor<1x32x32x3xf32>, tensor<8x3x3x3xf32>) -> tensor<1x16x16x8xf32>
  %2 = nn.exp %y : tensor<64x1024xf32>
  %3 = nn.reduce_max %2 {axes = array<i64: 1>} : (tensor<64x1024xf32>) -> tensor<64xf32>
  return %1, %3 : tensor<1x16x16x8xf32>, tensor<64xf32>
}

func.func @dense(%x: tensor<1x3x32x32xf32>, %y: tensor<64x1024xf32>) -> (tensor<1x32x32x8xf32>, tensor<64xf32>) {
  %w = nn.constant dense<0.5> : tensor<8x3x3x3xf32>
  %0 = nn.transpose %x {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x3x32x32xf32>) -> tensor<1x32x32x3xf32>
  %1 = nn.conv2d %0, %w {layout = "NHWC", pads = array<i64: 1, 1, 1, 1>} : (tensor<1x32x32x3xf32>, tensor<8x3x3x3xf32>) -> tensor<1x32x32x8xf32>
  %2 = nn.exp %y : tensor<64x1024xf32>
  %3 = nn.reduce_max %2 {axes = array<i64: 1>} : (tensor<64x1024xf32>) -> tensor<64xf32>
  return %1, %3 : tensor<1x32x32x8xf32>, tensor<64xf32>
}
// ----- output
// module {
//   func.func @strided(%arg0: tensor<1x3x32x32xf32>, %arg1: tensor<64x1024xf32>) -> (tensor<1x16x16x8xf32>, tensor<64xf32>) attributes {optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.constant dense<5.000000e-01> : tensor<8x3x3x3xf32>
//     %1 = nn.transpose %arg0 {mem.view, permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x3x32x32xf32>) -> tensor<1x32x32x3xf32>
//     %2 = nn.conv2d %1, %0 {layout = "NHWC", mem.kernel = "conv2d", mem.scratch = 13184 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>} : (tensor<1x32x32x3xf32>, tensor<8x3x3x3xf32>) -> tensor<1x16x16x8xf32>
//     %3 = nn.exp %arg1 {mem.kernel = "pointwise"} : tensor<64x1024xf32>
//     %4 = nn.reduce_max %3 {axes = array<i64: 1>, mem.kernel = "reduce"} : (tensor<64x1024xf32>) -> tensor<64xf32>
//     return %2, %4 : tensor<1x16x16x8xf32>, tensor<64xf32>
//   }
//   func.func @dense(%arg0: tensor<1x3x32x32xf32>, %arg1: tensor<64x1024xf32>) -> (tensor<1x32x32x8xf32>, tensor<64xf32>) attributes {optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.constant dense<5.000000e-01> : tensor<8x3x3x3xf32>
//     %1 = nn.transpose %arg0 {mem.kernel = "copy", permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x3x32x32xf32>) -> tensor<1x32x32x3xf32>
//     %2 = nn.conv2d %1, %0 {layout = "NHWC", mem.kernel = "conv2d", mem.scratch = 13952 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x32x32x3xf32>, tensor<8x3x3x3xf32>) -> tensor<1x32x32x8xf32>
//     %3 = nn.exp %arg1 {mem.kernel = "pointwise"} : tensor<64x1024xf32>
//     %4 = nn.reduce_max %3 {axes = array<i64: 1>, mem.kernel = "reduce"} : (tensor<64x1024xf32>) -> tensor<64xf32>
//     return %2, %4 : tensor<1x32x32x8xf32>, tensor<64xf32>
//   }
// }
