// Weights that are stored as bf16 were read as f32.

func.func @main(%a0: tensor<4x8xbf16>) -> tensor<4x8xf32> attributes {optc.stage = "fuse"} {
  %k1 = nn.constant dense<0.5> : tensor<8x8xbf16>
  %r = optc.group(%x0 = %a0, %x1 = %k1) : (tensor<4x8xbf16>, tensor<8x8xbf16>) -> tensor<4x8xf32> {
    %v1 = nn.cast %x0 {to = f32} : (tensor<4x8xbf16>) -> tensor<4x8xf32>
    %v3 = nn.cast %x1 {to = f32} : (tensor<8x8xbf16>) -> tensor<8x8xf32>
    %v2 = nn.matmul %v1, %v3 : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    optc.yield %v2 : tensor<4x8xf32>
  }
  return %r : tensor<4x8xf32>
}
