// RUN: optc --passes='fuse{max-ops=2}'

func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.exp %arg0 : tensor<4xf32>
  %1 = nn.neg %0 : tensor<4xf32>
  %2 = nn.abs %1 : tensor<4xf32>
  %3 = nn.tanh %2 : tensor<4xf32>
  return %3 : tensor<4xf32>
}
