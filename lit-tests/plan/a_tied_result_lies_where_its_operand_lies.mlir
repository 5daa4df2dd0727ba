// RUN: optc --passes=inplace,plan

func.func @main(%arg0: tensor<4xf32>, %arg1: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = nn.exp %arg0 : tensor<4xf32>
  %1 = nn.tanh %0 : tensor<4xf32>
  %2 = nn.add %1, %arg0 : tensor<4xf32>
  %3 = nn.mul %2, %arg1 : (tensor<4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}
