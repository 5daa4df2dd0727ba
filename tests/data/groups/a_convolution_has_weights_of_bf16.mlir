// Weights that are stored as bf16 were read as f32.

func.func @main(%a0: tensor<2x3x3x3xbf16>, %a1: tensor<5x3x1x1xbf16>) -> tensor<2x3x3x5xf32> attributes {optc.stage = "fuse"} {
  %k1 = nn.constant dense<"0x003F003F99BE453F453F453F453F453F003F123E123E003F123E003F003F"> : tensor<5x3x1x1xbf16>
  %r = optc.group(%x0 = %a0, %x1 = %k1) : (tensor<2x3x3x3xbf16>, tensor<5x3x1x1xbf16>) -> tensor<2x3x3x5xf32> {
    %v1 = nn.cast %x0 {to = f32} : (tensor<2x3x3x3xbf16>) -> tensor<2x3x3x3xf32>
    %v3 = nn.cast %x1 {to = f32} : (tensor<5x3x1x1xbf16>) -> tensor<5x3x1x1xf32>
    %v2 = nn.conv2d %v1, %v3 {layout = "NHWC", strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>} : (tensor<2x3x3x3xf32>, tensor<5x3x1x1xf32>) -> tensor<2x3x3x5xf32>
    optc.yield %v2 : tensor<2x3x3x5xf32>
  }
  return %r : tensor<2x3x3x5xf32>
}
