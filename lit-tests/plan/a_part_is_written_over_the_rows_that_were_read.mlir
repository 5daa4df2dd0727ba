// RUN: optc --passes='inplace,plan{optimize=memory}'

func.func @main(%x: tensor<1x16x16x16xf32>, %y: tensor<1x8x8x48xf32>) -> tensor<1x8x8xf32> {
  %0 = nn.neg %x : tensor<1x16x16x16xf32>
  %1 = nn.max_pool2d %0 {kernel = array<i64: 2, 2>, layout = "NHWC", strides = array<i64: 2, 2>} : (tensor<1x16x16x16xf32>) -> tensor<1x8x8x16xf32>
  %2 = nn.neg %y : tensor<1x8x8x48xf32>
  %3 = nn.concat %1, %2 {axis = 3 : i64} : (tensor<1x8x8x16xf32>, tensor<1x8x8x48xf32>) -> tensor<1x8x8x64xf32>
  %4 = nn.reduce_sum %3 {axes = array<i64: 3>} : (tensor<1x8x8x64xf32>) -> tensor<1x8x8xf32>
  return %4 : tensor<1x8x8xf32>
}
