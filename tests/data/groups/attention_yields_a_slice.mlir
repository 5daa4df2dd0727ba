// A slice of what attention makes: all of it was written into the slice.

func.func @main(%q: tensor<2x8x4xf32>, %k: tensor<2x4x8xf32>, %v: tensor<2x8x64xf32>) -> tensor<2x4x64xf32> {
  %r = optc.group(%a = %q, %b = %k, %c = %v) : (tensor<2x8x4xf32>, tensor<2x4x8xf32>, tensor<2x8x64xf32>) -> tensor<2x4x64xf32> {
    %1 = nn.matmul %a, %b : (tensor<2x8x4xf32>, tensor<2x4x8xf32>) -> tensor<2x8x8xf32>
    %2 = nn.softmax %1 {axis = 2 : i64} : tensor<2x8x8xf32>
    %3 = nn.matmul %2, %c : (tensor<2x8x8xf32>, tensor<2x8x64xf32>) -> tensor<2x8x64xf32>
    %4 = nn.slice %3 {starts = array<i64: 0, 0, 0>, sizes = array<i64: 2, 4, 64>, steps = array<i64: 1, 1, 1>} : (tensor<2x8x64xf32>) -> tensor<2x4x64xf32>
    optc.yield %4 : tensor<2x4x64xf32>
  }
  return %r : tensor<2x4x64xf32>
}
