// The same of attention that is transposed.

func.func @main(%q: tensor<2x8x4xf32>, %k: tensor<2x4x8xf32>, %v: tensor<2x8x64xf32>) -> tensor<2x2x64xf32> {
  %1 = nn.matmul %q, %k : (tensor<2x8x4xf32>, tensor<2x4x8xf32>) -> tensor<2x8x8xf32>
  %2 = nn.softmax %1 {axis = 2 : i64} : tensor<2x8x8xf32>
  %3 = nn.matmul %2, %v : (tensor<2x8x8xf32>, tensor<2x8x64xf32>) -> tensor<2x8x64xf32>
  %5 = nn.transpose %3 {permutation = array<i64: 1, 0, 2>} : (tensor<2x8x64xf32>) -> tensor<8x2x64xf32>
  %4 = nn.slice %5 {starts = array<i64: 3, 0, 0>, sizes = array<i64: 2, 2, 64>} : (tensor<8x2x64xf32>) -> tensor<2x2x64xf32>
  return %4 : tensor<2x2x64xf32>
}
