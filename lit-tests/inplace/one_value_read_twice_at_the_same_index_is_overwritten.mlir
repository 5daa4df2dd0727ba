// RUN: optc --passes=inplace

func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.exp %arg0 : tensor<4xf32>
  %1 = nn.mul %0, %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}
