// The bias is rounded to bf16 in the group: that was left out.

func.func @main(%a: tensor<4x16xf32>, %b: tensor<16x16xf32>, %c: tensor<16xf32>) -> tensor<4x16xf32> {
  %r = optc.group(%x = %a, %w = %b, %q = %c) : (tensor<4x16xf32>, tensor<16x16xf32>, tensor<16xf32>) -> tensor<4x16xf32> {
    %h = nn.cast %q {to = bf16} : (tensor<16xf32>) -> tensor<16xbf16>
    %f = nn.cast %h {to = f32} : (tensor<16xbf16>) -> tensor<16xf32>
    %v = nn.matmul %x, %w, %f : (tensor<4x16xf32>, tensor<16x16xf32>, tensor<16xf32>) -> tensor<4x16xf32>
    optc.yield %v : tensor<4x16xf32>
  }
  return %r : tensor<4x16xf32>
}
