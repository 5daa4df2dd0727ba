// RUN: optc --passes=inplace
// The kernel for narrow groups is fast only if channels are contiguous; with a turned image it took 100 times
// as long. So its image is copied, though a view would save bytes, as it does in the second function,
// where there is one group.

func.func @narrow(%x: tensor<1x16x64xf32>) -> (tensor<1x4x4x16xf32>, tensor<1x64xf32>) {
  %w = nn.constant dense<0.5> : tensor<16x1x1x1xf32>
  %0 = nn.exp %x : tensor<1x16x64xf32>
  %1 = nn.reshape %0 {shape = array<i64: 1, 16, 8, 8>} : (tensor<1x16x64xf32>) -> tensor<1x16x8x8xf32>
  %2 = nn.transpose %1 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x16x8x8xf32>) -> tensor<1x8x8x16xf32>
  %3 = nn.conv2d %2, %w {groups = 16 : i64, layout = "NHWC", strides = array<i64: 2, 2>} : (tensor<1x8x8x16xf32>, tensor<16x1x1x1xf32>) -> tensor<1x4x4x16xf32>
  %4 = nn.reduce_max %0 {axes = array<i64: 1>} : (tensor<1x16x64xf32>) -> tensor<1x64xf32>
  return %3, %4 : tensor<1x4x4x16xf32>, tensor<1x64xf32>
}

func.func @wide(%x: tensor<1x16x64xf32>) -> (tensor<1x4x4x16xf32>, tensor<1x64xf32>) {
  %w = nn.constant dense<0.5> : tensor<16x16x1x1xf32>
  %0 = nn.exp %x : tensor<1x16x64xf32>
  %1 = nn.reshape %0 {shape = array<i64: 1, 16, 8, 8>} : (tensor<1x16x64xf32>) -> tensor<1x16x8x8xf32>
  %2 = nn.transpose %1 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x16x8x8xf32>) -> tensor<1x8x8x16xf32>
  %3 = nn.conv2d %2, %w {layout = "NHWC", strides = array<i64: 2, 2>} : (tensor<1x8x8x16xf32>, tensor<16x16x1x1xf32>) -> tensor<1x4x4x16xf32>
  %4 = nn.reduce_max %0 {axes = array<i64: 1>} : (tensor<1x16x64xf32>) -> tensor<1x64xf32>
  return %3, %4 : tensor<1x4x4x16xf32>, tensor<1x64xf32>
}
// ----- output
// module {
//   func.func @narrow(%arg0: tensor<1x16x64xf32>) -> (tensor<1x4x4x16xf32>, tensor<1x64xf32>) attributes {optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.constant dense<5.000000e-01> : tensor<16x1x1x1xf32>
//     %1 = nn.exp %arg0 {mem.kernel = "pointwise"} : tensor<1x16x64xf32>
//     %2 = nn.reshape %1 {mem.kernel = "copy", shape = array<i64: 1, 16, 8, 8>} : (tensor<1x16x64xf32>) -> tensor<1x16x8x8xf32>
//     %3 = nn.transpose %2 {mem.kernel = "copy", permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x16x8x8xf32>) -> tensor<1x8x8x16xf32>
//     %4 = nn.conv2d %3, %0 {groups = 16 : i64, layout = "NHWC", mem.kernel = "depthwise", strides = array<i64: 2, 2>} : (tensor<1x8x8x16xf32>, tensor<16x1x1x1xf32>) -> tensor<1x4x4x16xf32>
//     %5 = nn.reduce_max %1 {axes = array<i64: 1>, mem.kernel = "reduce"} : (tensor<1x16x64xf32>) -> tensor<1x64xf32>
//     return %4, %5 : tensor<1x4x4x16xf32>, tensor<1x64xf32>
//   }
//   func.func @wide(%arg0: tensor<1x16x64xf32>) -> (tensor<1x4x4x16xf32>, tensor<1x64xf32>) attributes {optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.constant dense<5.000000e-01> : tensor<16x16x1x1xf32>
//     %1 = nn.exp %arg0 {mem.kernel = "pointwise"} : tensor<1x16x64xf32>
//     %2 = nn.reshape %1 {mem.kernel = "copy", shape = array<i64: 1, 16, 8, 8>} : (tensor<1x16x64xf32>) -> tensor<1x16x8x8xf32>
//     %3 = nn.transpose %2 {mem.view, permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x16x8x8xf32>) -> tensor<1x8x8x16xf32>
//     %4 = nn.conv2d %3, %0 {layout = "NHWC", mem.kernel = "conv2d", mem.scratch = 1088 : i64, strides = array<i64: 2, 2>} : (tensor<1x8x8x16xf32>, tensor<16x16x1x1xf32>) -> tensor<1x4x4x16xf32>
//     %5 = nn.reduce_max %1 {axes = array<i64: 1>, mem.kernel = "reduce"} : (tensor<1x16x64xf32>) -> tensor<1x64xf32>
//     return %4, %5 : tensor<1x4x4x16xf32>, tensor<1x64xf32>
//   }
// }
