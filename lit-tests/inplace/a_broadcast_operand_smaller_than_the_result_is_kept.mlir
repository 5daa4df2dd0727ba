// RUN: optc --passes=inplace

func.func @main(%arg0: tensor<4xf32>, %arg1: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %0 = nn.exp %arg0 : tensor<4xf32>
  %1 = nn.add %0, %arg1 : (tensor<4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return %1 : tensor<3x4xf32>
}
