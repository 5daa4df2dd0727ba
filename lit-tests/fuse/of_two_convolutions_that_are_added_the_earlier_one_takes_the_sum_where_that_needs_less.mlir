// RUN: optc --passes=fuse,schedule,inplace,plan

// The convolution from %0 makes half of what it reads: if it runs first, the norm overwrites %0, and the other
// convolution adds its own to what it left.
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
