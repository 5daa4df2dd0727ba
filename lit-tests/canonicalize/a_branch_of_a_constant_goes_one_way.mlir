// RUN: optc --passes=canonicalize --print-generic
// A branch on a constant becomes a jump and its blocks are merged. Otherwise edges that never run keep values
// alive and cost arena bytes.

func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %c = "arith.constant"() <{value = false}> : () -> i1
  "cf.cond_br"(%c, %x, %y)[^bb1, ^bb1] <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (i1, tensor<4xf32>, tensor<4xf32>) -> ()
^bb1(%a: tensor<4xf32>):
  %i = "arith.constant"() <{value = 7 : i32}> : () -> i32
  "cf.switch"(%i, %x, %a)[^bb2, ^bb2] <{case_operand_segments = array<i32: 1>, case_values = dense<7> : vector<1xi32>, operandSegmentSizes = array<i32: 1, 1, 1>}> : (i32, tensor<4xf32>, tensor<4xf32>) -> ()
^bb2(%b: tensor<4xf32>):
  return %b : tensor<4xf32>
}
// ----- output
// "builtin.module"() ({
//   "func.func"() <{function_type = (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>, sym_name = "main"}> ({
//   ^bb0(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>):
//     "func.return"(%arg1) : (tensor<4xf32>) -> ()
//   }) : () -> ()
// }) : () -> ()
