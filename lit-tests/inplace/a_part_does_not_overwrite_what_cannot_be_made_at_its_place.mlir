// RUN: optc --passes=inplace --remarks=inplace

func.func @main(%x: tensor<2x3xf32>, %y: tensor<4x3xf32>) -> tensor<2x12xf32> {
  %w = nn.constant dense<0.5> : tensor<2x3xf32>
  %0 = nn.softmax %x {axis = 1 : i64} : tensor<2x3xf32>
  %1 = nn.neg %0 : tensor<2x3xf32>
  %2 = nn.add %x, %w : tensor<2x3xf32>
  %3 = nn.neg %2 : tensor<2x3xf32>
  %4 = nn.abs %y : tensor<4x3xf32>
  %5 = nn.slice %4 {starts = array<i64: 1, 0>, sizes = array<i64: 2, 3>} : (tensor<4x3xf32>) -> tensor<2x3xf32>
  %6 = nn.neg %5 : tensor<2x3xf32>
  %7 = nn.concat %1, %2, %3, %6 {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x12xf32>
  %8 = nn.neg %7 : tensor<2x12xf32>
  return %8 : tensor<2x12xf32>
}
