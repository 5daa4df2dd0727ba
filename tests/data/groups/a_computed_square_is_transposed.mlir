// A computed square is transposed: that was left out.

func.func @main(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %r = optc.group(%x = %a) : (tensor<4x4xf32>) -> tensor<4x4xf32> {
    %h = nn.neg %x : tensor<4x4xf32>
    %f = nn.transpose %h {permutation = array<i64: 1, 0>} : tensor<4x4xf32>
    optc.yield %f : tensor<4x4xf32>
  }
  return %r : tensor<4x4xf32>
}
