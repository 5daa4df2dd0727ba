// RUN: optc --passes=dce --print-generic

func.func @main(%c: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
  "cf.br"(%x, %x)[^loop] : (tensor<4xf32>, tensor<4xf32>) -> ()
^loop(%unread: tensor<4xf32>, %read: tensor<4xf32>):
  %0 = nn.exp %unread : tensor<4xf32>
  %1 = nn.neg %read : tensor<4xf32>
  "cf.cond_br"(%c, %0, %1, %0, %1)[^loop, ^end] <{operandSegmentSizes = array<i32: 1, 2, 2>}> : (i1, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> ()
^end(%a: tensor<4xf32>, %b: tensor<4xf32>):
  return %b : tensor<4xf32>
}
// ----- output
// "builtin.module"() ({
//   "func.func"() <{function_type = (i1, tensor<4xf32>) -> tensor<4xf32>, sym_name = "main"}> ({
//   ^bb0(%arg0: i1, %arg1: tensor<4xf32>):
//     "cf.br"(%arg1)[^bb1] : (tensor<4xf32>) -> ()
//   ^bb1(%0: tensor<4xf32>):  // 2 preds: ^bb0, ^bb1
//     %1 = "nn.neg"(%0) : (tensor<4xf32>) -> tensor<4xf32>
//     "cf.cond_br"(%arg0, %1, %1)[^bb1, ^bb2] <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (i1, tensor<4xf32>, tensor<4xf32>) -> ()
//   ^bb2(%2: tensor<4xf32>):  // pred: ^bb1
//     "func.return"(%2) : (tensor<4xf32>) -> ()
//   }) : () -> ()
// }) : () -> ()
