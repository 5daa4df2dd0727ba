// The group yields what a transpose reads: it got the transpose.

func.func @main(%q: tensor<2x8x4xf32>, %k: tensor<2x4x8xf32>, %v: tensor<2x8x64xf32>) -> tensor<2x8x64xf32> attributes {optc.stage = "fuse"} {
  %r = optc.group(%a = %q, %b = %k, %c = %v) : (tensor<2x8x4xf32>, tensor<2x4x8xf32>, tensor<2x8x64xf32>) -> tensor<2x8x64xf32> {
    %1 = nn.matmul %a, %b : (tensor<2x8x4xf32>, tensor<2x4x8xf32>) -> tensor<2x8x8xf32>
    %2 = nn.softmax %1 {axis = 2 : i64} : tensor<2x8x8xf32>
    %3 = nn.matmul %2, %c : (tensor<2x8x8xf32>, tensor<2x8x64xf32>) -> tensor<2x8x64xf32>
    %4 = nn.transpose %3 {permutation = array<i64: 1, 0, 2>} : (tensor<2x8x64xf32>) -> tensor<8x2x64xf32>
    optc.yield %3 : tensor<2x8x64xf32>
  }
  return %r : tensor<2x8x64xf32>
}
