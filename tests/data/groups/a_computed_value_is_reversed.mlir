// The order of a computed value is turned round: that was left out.

func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  %r = optc.group(%x = %a) : (tensor<8xf32>) -> tensor<8xf32> {
    %h = nn.neg %x : tensor<8xf32>
    %f = nn.slice %h {starts = array<i64: 7>, sizes = array<i64: 8>, strides = array<i64: -1>} : tensor<8xf32>
    optc.yield %f : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}
