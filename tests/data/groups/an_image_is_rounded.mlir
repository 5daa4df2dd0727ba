// Only the image is rounded to bf16: that was left out.

func.func @main(%a: tensor<1x4x5x16xf32>) -> tensor<1x4x5x16xf32> {
  %c = nn.constant dense<0.1> : tensor<16x16x1x1xf32>
  %r = optc.group(%x = %a, %w = %c) : (tensor<1x4x5x16xf32>, tensor<16x16x1x1xf32>) -> tensor<1x4x5x16xf32> {
    %h = nn.cast %x {to = bf16} : (tensor<1x4x5x16xf32>) -> tensor<1x4x5x16xbf16>
    %f = nn.cast %h {to = f32} : (tensor<1x4x5x16xbf16>) -> tensor<1x4x5x16xf32>
    %v = nn.conv2d %f, %w {layout = "NHWC"} : (tensor<1x4x5x16xf32>, tensor<16x16x1x1xf32>) -> tensor<1x4x5x16xf32>
    optc.yield %v : tensor<1x4x5x16xf32>
  }
  return %r : tensor<1x4x5x16xf32>
}
