// RUN: optc --passes=dce

func.func @main(%c: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
  "cf.br"(%x)[^head] : (tensor<4xf32>) -> ()
^head(%a: tensor<4xf32>):
  "cf.cond_br"(%c, %a)[^body, ^exit] <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (i1, tensor<4xf32>) -> ()
^body(%b: tensor<4xf32>):
  "cf.br"(%b)[^head] : (tensor<4xf32>) -> ()
^exit:
  return %x : tensor<4xf32>
}
