// RUN: optc --passes=fuse,inplace

func.func @main(%arg0: tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32> {
  %w = nn.constant dense<0.5> : tensor<8x8x3x3xf32>
  %0 = nn.exp %arg0 : tensor<1x4x4x8xf32>
  %1 = nn.conv2d %0, %w {pads = array<i64: 1, 1, 1, 1>, layout = "NHWC"} : (tensor<1x4x4x8xf32>, tensor<8x8x3x3xf32>) -> tensor<1x4x4x8xf32>
  %2 = nn.add %1, %0 : tensor<1x4x4x8xf32>
  return %2 : tensor<1x4x4x8xf32>
}
