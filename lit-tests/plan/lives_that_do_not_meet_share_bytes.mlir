// RUN: optc --passes=plan

func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.exp %arg0 : tensor<4xf32>
  %1 = nn.tanh %0 : tensor<4xf32>
  %2 = nn.neg %1 : tensor<4xf32>
  %3 = nn.abs %2 : tensor<4xf32>
  return %3 : tensor<4xf32>
}
