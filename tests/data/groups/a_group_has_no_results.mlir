// A group without results: the compiler stopped.

func.func @main(%a: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {optc.stage = "fuse"} {
  optc.group(%x = %a) : (tensor<4x4xf32>) -> () {
    optc.yield
  }
  return %a : tensor<4x4xf32>
}
