// RUN: optc --passes=fuse,inplace

func.func @main(%arg0: tensor<1x4x4x8xf32>, %arg1: tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32> {
  %w = nn.constant dense<0.5> : tensor<8x8x1x1xf32>
  %0 = nn.exp %arg1 : tensor<1x4x4x8xf32>
  %1 = nn.conv2d %arg0, %w {layout = "NHWC"} : (tensor<1x4x4x8xf32>, tensor<8x8x1x1xf32>) -> tensor<1x4x4x8xf32>
  %2 = nn.add %1, %0 : tensor<1x4x4x8xf32>
  %3 = nn.mul %2, %0 : tensor<1x4x4x8xf32>
  return %3 : tensor<1x4x4x8xf32>
}
