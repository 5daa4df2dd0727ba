// RUN: optc --passes=inplace --remarks=inplace

func.func @main(%x: tensor<2x4xf32>) -> (tensor<2x5xf32>, tensor<2x5xf32>, tensor<2x3xf32>, tensor<2x6xf32>) {
  %0 = nn.softmax %x {axis = 1 : i64} : tensor<2x4xf32>
  %1 = nn.pad %0 {low = array<i64: 0, 1>, high = array<i64: 0, 0>} : (tensor<2x4xf32>) -> tensor<2x5xf32>
  %2 = nn.pad %x {low = array<i64: 0, 1>, high = array<i64: 0, 0>} : (tensor<2x4xf32>) -> tensor<2x5xf32>
  %3 = nn.neg %x : tensor<2x4xf32>
  %4 = nn.pad %3 {low = array<i64: 0, -1>, high = array<i64: 0, 0>} : (tensor<2x4xf32>) -> tensor<2x3xf32>
  %5 = nn.neg %x : tensor<2x4xf32>
  %6 = nn.pad %5 {low = array<i64: 0, 1>, high = array<i64: 0, 1>} : (tensor<2x4xf32>) -> tensor<2x6xf32>
  %7 = nn.repeat %5 {counts = array<i64: 1, 1>} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %8 = nn.reduce_sum %7 {axes = array<i64: 0, 1>} : (tensor<2x4xf32>) -> tensor<f32>
  %9 = nn.mul %6, %8 : (tensor<2x6xf32>, tensor<f32>) -> tensor<2x6xf32>
  return %1, %2, %4, %9 : tensor<2x5xf32>, tensor<2x5xf32>, tensor<2x3xf32>, tensor<2x6xf32>
}
