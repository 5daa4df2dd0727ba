// RUN: optc --passes=inplace

func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.exp %arg0 : tensor<4xf32>
  %1 = nn.tanh %0 : tensor<4xf32>
  %2 = nn.sub %1, %0 : tensor<4xf32>
  return %2 : tensor<4xf32>
}
