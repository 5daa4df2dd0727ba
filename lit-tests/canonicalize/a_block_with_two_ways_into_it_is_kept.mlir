// RUN: optc --passes=canonicalize --print-generic
// A block with two predecessors cannot be merged into either of them. Only its argument that is equal on both
// edges is replaced by that value.

func.func @main(%c: i1, %x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  "cf.cond_br"(%c)[^left, ^right] <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (i1) -> ()
^left:
  "cf.br"(%x, %y)[^end] : (tensor<4xf32>, tensor<4xf32>) -> ()
^right:
  "cf.br"(%y, %y)[^end] : (tensor<4xf32>, tensor<4xf32>) -> ()
^end(%a: tensor<4xf32>, %same: tensor<4xf32>):
  return %a, %same : tensor<4xf32>, tensor<4xf32>
}
// ----- output
// "builtin.module"() ({
//   "func.func"() <{function_type = (i1, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>), sym_name = "main"}> ({
//   ^bb0(%arg0: i1, %arg1: tensor<4xf32>, %arg2: tensor<4xf32>):
//     "cf.cond_br"(%arg0)[^bb1, ^bb2] <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (i1) -> ()
//   ^bb1:  // pred: ^bb0
//     "cf.br"(%arg1)[^bb3] : (tensor<4xf32>) -> ()
//   ^bb2:  // pred: ^bb0
//     "cf.br"(%arg2)[^bb3] : (tensor<4xf32>) -> ()
//   ^bb3(%0: tensor<4xf32>):  // 2 preds: ^bb1, ^bb2
//     "func.return"(%0, %arg2) : (tensor<4xf32>, tensor<4xf32>) -> ()
//   }) : () -> ()
// }) : () -> ()
