// RUN: optc --passes=inplace

func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.constant dense<1.0> : tensor<4xf32>
  %1 = nn.sub %0, %arg0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}
