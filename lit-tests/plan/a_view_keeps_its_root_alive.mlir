// RUN: optc --passes=plan

func.func @main(%arg0: tensor<4xf32>) -> (tensor<4xf32>, tensor<2x2xf32>) {
  %0 = nn.exp %arg0 : tensor<4xf32>
  %1 = nn.reshape %0 {shape = array<i64: 2, 2>} : (tensor<4xf32>) -> tensor<2x2xf32>
  %2 = nn.tanh %arg0 : tensor<4xf32>
  %3 = nn.neg %2 : tensor<4xf32>
  %4 = nn.abs %1 : tensor<2x2xf32>
  return %3, %4 : tensor<4xf32>, tensor<2x2xf32>
}
