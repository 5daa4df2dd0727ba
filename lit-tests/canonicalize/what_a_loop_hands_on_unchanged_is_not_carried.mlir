// RUN: optc --passes=canonicalize --print-generic
// A value that every iteration passes on unchanged, or that nobody reads, is no loop-carried value. Carrying
// it would take a buffer and a copy per iteration.

func.func @main(%n: index, %x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = "arith.constant"() <{value = 0 : index}> : () -> index
  %one = "arith.constant"() <{value = 1 : index}> : () -> index
  %0, %1, %2 = "scf.for"(%zero, %n, %one, %x, %y, %x) ({
  ^bb0(%i: index, %a: tensor<4xf32>, %same: tensor<4xf32>, %unread: tensor<4xf32>):
    %3 = nn.add %a, %same : tensor<4xf32>
    %4 = nn.exp %3 : tensor<4xf32>
    "scf.yield"(%3, %same, %4) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> ()
  }) : (index, index, index, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
// ----- output
// "builtin.module"() ({
//   "func.func"() <{function_type = (index, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>), sym_name = "main"}> ({
//   ^bb0(%arg0: index, %arg1: tensor<4xf32>, %arg2: tensor<4xf32>):
//     %0 = "arith.constant"() <{value = 0 : index}> : () -> index
//     %1 = "arith.constant"() <{value = 1 : index}> : () -> index
//     %2 = "scf.for"(%0, %arg0, %1, %arg1) ({
//     ^bb0(%arg3: index, %arg4: tensor<4xf32>):
//       %3 = "nn.add"(%arg4, %arg2) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
//       "scf.yield"(%3) : (tensor<4xf32>) -> ()
//     }) : (index, index, index, tensor<4xf32>) -> tensor<4xf32>
//     "func.return"(%2, %arg2) : (tensor<4xf32>, tensor<4xf32>) -> ()
//   }) : () -> ()
// }) : () -> ()
