// Attention of a value with five axes of heads: the compiler stopped.

func.func @main(%q: tensor<8x4xf32>, %k: tensor<4x8xf32>, %v: tensor<1x1x1x2x2x8x4xf32>) -> tensor<1x1x1x2x2x8x4xf32> {
  %r = optc.group(%a = %q, %b = %k, %c = %v) : (tensor<8x4xf32>, tensor<4x8xf32>, tensor<1x1x1x2x2x8x4xf32>) -> tensor<1x1x1x2x2x8x4xf32> {
    %1 = nn.matmul %a, %b : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
    %2 = nn.softmax %1 {axis = 1 : i64} : tensor<8x8xf32>
    %3 = nn.matmul %2, %c : (tensor<8x8xf32>, tensor<1x1x1x2x2x8x4xf32>) -> tensor<1x1x1x2x2x8x4xf32>
    optc.yield %3 : tensor<1x1x1x2x2x8x4xf32>
  }
  return %r : tensor<1x1x1x2x2x8x4xf32>
}
