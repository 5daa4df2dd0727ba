// RUN: optc --passes=layout

func.func @main(%arg0: tensor<1x3x6x6xf32>) -> tensor<1x8x6x6xf32> {
  %w = nn.constant dense<0.5> : tensor<8x3x3x3xf32>
  %v = nn.constant dense<0.5> : tensor<8x8x1x1xf32>
  %s = nn.constant dense<2.0> : tensor<1x8x1x1xf32>
  %0 = nn.conv2d %arg0, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x3x6x6xf32>, tensor<8x3x3x3xf32>) -> tensor<1x8x6x6xf32>
  %1 = nn.mul %0, %s : (tensor<1x8x6x6xf32>, tensor<1x8x1x1xf32>) -> tensor<1x8x6x6xf32>
  %2 = nn.relu %1 : tensor<1x8x6x6xf32>
  %3 = nn.conv2d %2, %v : (tensor<1x8x6x6xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x6x6xf32>
  %4 = nn.add %3, %2 : tensor<1x8x6x6xf32>
  return %4 : tensor<1x8x6x6xf32>
}
