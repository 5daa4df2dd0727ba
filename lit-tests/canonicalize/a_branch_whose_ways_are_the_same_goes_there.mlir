// RUN: optc --passes=canonicalize --print-generic
// A branch with equal targets and equal operands needs no condition. Removing it frees the condition's
// producers for dead code elimination.

func.func @main(%c: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
  "cf.cond_br"(%c, %x, %x)[^bb1, ^bb1] <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (i1, tensor<4xf32>, tensor<4xf32>) -> ()
^bb1(%a: tensor<4xf32>):
  return %a : tensor<4xf32>
}
// ----- output
// "builtin.module"() ({
//   "func.func"() <{function_type = (i1, tensor<4xf32>) -> tensor<4xf32>, sym_name = "main"}> ({
//   ^bb0(%arg0: i1, %arg1: tensor<4xf32>):
//     "func.return"(%arg1) : (tensor<4xf32>) -> ()
//   }) : () -> ()
// }) : () -> ()
