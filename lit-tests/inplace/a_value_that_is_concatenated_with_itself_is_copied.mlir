// RUN: optc --passes=inplace,plan

func.func @main(%x: tensor<2x3xf32>) -> tensor<2x6xf32> {
  %0 = nn.neg %x : tensor<2x3xf32>
  %1 = nn.concat %0, %0 {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
  return %1 : tensor<2x6xf32>
}
