// RUN: optc --passes=fuse,inplace

func.func @main(%arg0: tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32> {
  %w = nn.constant dense<0.5> : tensor<8x8x1x1xf32>
  %r = nn.constant dense<1.0> : tensor<1x4x4x8xf32>
  %0 = nn.conv2d %arg0, %w {layout = "NHWC"} : (tensor<1x4x4x8xf32>, tensor<8x8x1x1xf32>) -> tensor<1x4x4x8xf32>
  %1 = nn.add %0, %r : tensor<1x4x4x8xf32>
  return %1 : tensor<1x4x4x8xf32>
}
