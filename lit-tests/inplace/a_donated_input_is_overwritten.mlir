// RUN: optc --passes=inplace

func.func @main(%arg0: tensor<4xf32> {optc.donated}) -> tensor<4xf32> {
  %0 = nn.exp %arg0 : tensor<4xf32>
  %1 = nn.tanh %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}
