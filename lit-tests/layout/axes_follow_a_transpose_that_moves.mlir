// RUN: optc --passes=layout

func.func @main(%arg0: tensor<1x3x6x6xf32>) -> tensor<1x16xf32> {
  %w = nn.constant dense<0.5> : tensor<8x3x1x1xf32>
  %0 = nn.conv2d %arg0, %w : (tensor<1x3x6x6xf32>, tensor<8x3x1x1xf32>) -> tensor<1x8x6x6xf32>
  %1 = nn.concat %0, %0 {axis = 1 : i64} : (tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>) -> tensor<1x16x6x6xf32>
  %2 = nn.reduce_mean %1 {axes = array<i64: 2, 3>, keepdims} : (tensor<1x16x6x6xf32>) -> tensor<1x16x1x1xf32>
  %3 = nn.reshape %2 {shape = array<i64: 1, 16>} : (tensor<1x16x1x1xf32>) -> tensor<1x16xf32>
  return %3 : tensor<1x16xf32>
}
