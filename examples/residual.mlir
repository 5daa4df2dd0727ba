// A residual block on a small image, channels last.
func.func @main(%x: tensor<1x8x8x16xf32>) -> tensor<1x16xf32> {
  %filter = nn.constant dense<0.05> : tensor<16x16x1x1xf32>
  %0 = nn.mul %x, %x : tensor<1x8x8x16xf32>
  %1 = nn.tanh %0 : tensor<1x8x8x16xf32>
  %2 = nn.conv2d %x, %filter {layout = "NHWC"} : (tensor<1x8x8x16xf32>, tensor<16x16x1x1xf32>) -> tensor<1x8x8x16xf32>
  %3 = nn.add %2, %1 : tensor<1x8x8x16xf32>
  %4 = nn.relu %3 : tensor<1x8x8x16xf32>
  %5 = nn.reduce_mean %4 {axes = array<i64: 1, 2>} : (tensor<1x8x8x16xf32>) -> tensor<1x16xf32>
  return %5 : tensor<1x16xf32>
}
