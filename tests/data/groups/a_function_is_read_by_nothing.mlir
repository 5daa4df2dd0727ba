// A function of what is yielded that nothing reads: the compiler stopped.

func.func @main(%a0: tensor<4xf32>) -> tensor<4xf32> attributes {optc.stage = "fuse"} {
  %r0 = optc.group(%x = %a0) : (tensor<4xf32>) -> tensor<4xf32> {
    %b = nn.gelu %x : tensor<4xf32>
    %c = nn.softplus %b : tensor<4xf32>
    optc.yield %b : tensor<4xf32>
  }
  return %r0 : tensor<4xf32>
}
