// RUN: optc --passes=fuse

func.func @main(%arg0: tensor<2x8xf32>) -> tensor<2x16xf32> {
  %w = nn.constant dense<0.5> : tensor<8x16xf32>
  %b = nn.constant dense<0.1> : tensor<16xf32>
  %0 = nn.matmul %arg0, %w : (tensor<2x8xf32>, tensor<8x16xf32>) -> tensor<2x16xf32>
  %1 = nn.add %0, %b : (tensor<2x16xf32>, tensor<16xf32>) -> tensor<2x16xf32>
  %2 = nn.gelu %1 : tensor<2x16xf32>
  return %2 : tensor<2x16xf32>
}
