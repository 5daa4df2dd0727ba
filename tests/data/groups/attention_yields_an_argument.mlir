// The group yields an argument: attention was written in its place.

func.func @main(%q: tensor<2x8x4xf32>, %k: tensor<2x4x8xf32>, %v: tensor<2x8x64xf32>) -> tensor<2x8x4xf32> attributes {optc.stage = "fuse"} {
  %r = optc.group(%a = %q, %b = %k, %c = %v) : (tensor<2x8x4xf32>, tensor<2x4x8xf32>, tensor<2x8x64xf32>) -> tensor<2x8x4xf32> {
    %1 = nn.matmul %a, %b : (tensor<2x8x4xf32>, tensor<2x4x8xf32>) -> tensor<2x8x8xf32>
    %2 = nn.softmax %1 {axis = 2 : i64} : tensor<2x8x8xf32>
    %3 = nn.matmul %2, %c : (tensor<2x8x8xf32>, tensor<2x8x64xf32>) -> tensor<2x8x64xf32>
    optc.yield %a : tensor<2x8x4xf32>
  }
  return %r : tensor<2x8x4xf32>
}
