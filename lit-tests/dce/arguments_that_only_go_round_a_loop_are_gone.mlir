// RUN: optc --passes=dce --print-generic
// A loop-carried value that only computes its own next value is dead, together with that computation. The
// value that leaves the loop stays.

func.func @main(%n: index, %x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  cf.br ^loop(%zero, %x, %x : index, tensor<4xf32>, tensor<4xf32>)
^loop(%i: index, %unread: tensor<4xf32>, %read: tensor<4xf32>):
  %0 = nn.exp %unread : tensor<4xf32>
  %1 = nn.neg %read : tensor<4xf32>
  %2 = arith.addi %i, %one : index
  %3 = arith.cmpi slt, %2, %n : index
  cf.cond_br %3, ^loop(%2, %0, %1 : index, tensor<4xf32>, tensor<4xf32>), ^end(%0, %1 : tensor<4xf32>, tensor<4xf32>)
^end(%a: tensor<4xf32>, %b: tensor<4xf32>):
  return %b : tensor<4xf32>
}
// ----- output
// "builtin.module"() ({
//   "func.func"() <{function_type = (index, tensor<4xf32>) -> tensor<4xf32>, sym_name = "main"}> ({
//   ^bb0(%arg0: index, %arg1: tensor<4xf32>):
//     %0 = "arith.constant"() <{value = 0 : index}> : () -> index
//     %1 = "arith.constant"() <{value = 1 : index}> : () -> index
//     "cf.br"(%0, %arg1)[^bb1] : (index, tensor<4xf32>) -> ()
//   ^bb1(%2: index, %3: tensor<4xf32>):  // 2 preds: ^bb0, ^bb1
//     %4 = "nn.neg"(%3) : (tensor<4xf32>) -> tensor<4xf32>
//     %5 = "arith.addi"(%2, %1) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
//     %6 = "arith.cmpi"(%5, %arg0) <{predicate = 2 : i64}> : (index, index) -> i1
//     "cf.cond_br"(%6, %5, %4, %4)[^bb1, ^bb2] <{operandSegmentSizes = array<i32: 1, 2, 1>}> : (i1, index, tensor<4xf32>, tensor<4xf32>) -> ()
//   ^bb2(%7: tensor<4xf32>):  // pred: ^bb1
//     "func.return"(%7) : (tensor<4xf32>) -> ()
//   }) : () -> ()
// }) : () -> ()
