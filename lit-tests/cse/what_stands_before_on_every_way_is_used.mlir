// RUN: optc --passes=cse --print-generic
// A value is reused only where its definition dominates the reader. The square roots of the two branches
// dominate nothing after the join, so it is computed there again.

func.func @main(%c: i1, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = nn.exp %x : tensor<4xf32>
  "cf.cond_br"(%c)[^left, ^right] <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (i1) -> ()
^left:
  %1 = nn.exp %x : tensor<4xf32>
  %2 = nn.sqrt %x : tensor<4xf32>
  "cf.br"(%1, %2)[^end] : (tensor<4xf32>, tensor<4xf32>) -> ()
^right:
  %3 = nn.sqrt %x : tensor<4xf32>
  "cf.br"(%x, %3)[^end] : (tensor<4xf32>, tensor<4xf32>) -> ()
^end(%a: tensor<4xf32>, %b: tensor<4xf32>):
  %4 = nn.sqrt %x : tensor<4xf32>
  %5 = nn.exp %x : tensor<4xf32>
  %6 = nn.add %4, %5 : tensor<4xf32>
  %7 = nn.add %6, %a : tensor<4xf32>
  return %7, %b : tensor<4xf32>, tensor<4xf32>
}
// ----- output
// "builtin.module"() ({
//   "func.func"() <{function_type = (i1, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>), sym_name = "main"}> ({
//   ^bb0(%arg0: i1, %arg1: tensor<4xf32>):
//     %0 = "nn.exp"(%arg1) : (tensor<4xf32>) -> tensor<4xf32>
//     "cf.cond_br"(%arg0)[^bb1, ^bb2] <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (i1) -> ()
//   ^bb1:  // pred: ^bb0
//     %1 = "nn.sqrt"(%arg1) : (tensor<4xf32>) -> tensor<4xf32>
//     "cf.br"(%0, %1)[^bb3] : (tensor<4xf32>, tensor<4xf32>) -> ()
//   ^bb2:  // pred: ^bb0
//     %2 = "nn.sqrt"(%arg1) : (tensor<4xf32>) -> tensor<4xf32>
//     "cf.br"(%arg1, %2)[^bb3] : (tensor<4xf32>, tensor<4xf32>) -> ()
//   ^bb3(%3: tensor<4xf32>, %4: tensor<4xf32>):  // 2 preds: ^bb1, ^bb2
//     %5 = "nn.sqrt"(%arg1) : (tensor<4xf32>) -> tensor<4xf32>
//     %6 = "nn.add"(%5, %0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
//     %7 = "nn.add"(%6, %3) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
//     "func.return"(%7, %4) : (tensor<4xf32>, tensor<4xf32>) -> ()
//   }) : () -> ()
// }) : () -> ()
