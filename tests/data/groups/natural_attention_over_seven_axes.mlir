// Attention of a value with five axes of heads, without a group: the compiler stopped.

func.func @main(%q: tensor<8x4xf32>, %k: tensor<4x8xf32>, %v: tensor<1x1x1x2x2x8x4xf32>) -> tensor<1x1x1x2x2x8x4xf32> {
    %L1 = nn.matmul %q, %k : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
    %L2 = nn.softmax %L1 {axis = 1 : i64} : tensor<8x8xf32>
    %L3 = nn.matmul %L2, %v : (tensor<8x8xf32>, tensor<1x1x1x2x2x8x4xf32>) -> tensor<1x1x1x2x2x8x4xf32>
  return %L3 : tensor<1x1x1x2x2x8x4xf32>
}
