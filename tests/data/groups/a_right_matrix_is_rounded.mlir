// Only the right matrix is rounded to bf16: that was left out.

func.func @main(%a: tensor<4x16xf32>, %b: tensor<16x16xf32>) -> tensor<4x16xf32> {
  %r = optc.group(%x = %a, %w = %b) : (tensor<4x16xf32>, tensor<16x16xf32>) -> tensor<4x16xf32> {
    %h = nn.cast %w {to = bf16} : (tensor<16x16xf32>) -> tensor<16x16xbf16>
    %f = nn.cast %h {to = f32} : (tensor<16x16xbf16>) -> tensor<16x16xf32>
    %v = nn.matmul %x, %f : (tensor<4x16xf32>, tensor<16x16xf32>) -> tensor<4x16xf32>
    optc.yield %v : tensor<4x16xf32>
  }
  return %r : tensor<4x16xf32>
}
