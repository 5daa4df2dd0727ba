// What is normalised is rounded to bf16 before: that was left out.

func.func @main(%a: tensor<1x4x5x16xf32>, %s: tensor<16xf32>, %b: tensor<16xf32>) -> tensor<1x4x5x16xf32> {
  %r = optc.group(%x = %a, %w = %s, %q = %b) : (tensor<1x4x5x16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<1x4x5x16xf32> {
    %h = nn.cast %x {to = bf16} : (tensor<1x4x5x16xf32>) -> tensor<1x4x5x16xbf16>
    %f = nn.cast %h {to = f32} : (tensor<1x4x5x16xbf16>) -> tensor<1x4x5x16xf32>
    %v = nn.group_norm %f, %w, %q {axis = 3 : i64, axes = array<i64>, groups = 1 : i64} : (tensor<1x4x5x16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<1x4x5x16xf32>
    optc.yield %v : tensor<1x4x5x16xf32>
  }
  return %r : tensor<1x4x5x16xf32>
}
