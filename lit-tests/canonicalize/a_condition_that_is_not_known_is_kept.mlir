// RUN: optc --passes=canonicalize --print-generic
// An `scf.if` on an unknown condition stays. A result that both regions yield equally does not need it, and
// is replaced.

func.func @main(%c: i1, %x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0, %1 = "scf.if"(%c) ({
    %2 = nn.exp %x : tensor<4xf32>
    "scf.yield"(%2, %y) : (tensor<4xf32>, tensor<4xf32>) -> ()
  }, {
    "scf.yield"(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> ()
  }) : (i1) -> (tensor<4xf32>, tensor<4xf32>)
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
// ----- output
// "builtin.module"() ({
//   "func.func"() <{function_type = (i1, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>), sym_name = "main"}> ({
//   ^bb0(%arg0: i1, %arg1: tensor<4xf32>, %arg2: tensor<4xf32>):
//     %0:2 = "scf.if"(%arg0) ({
//       %1 = "nn.exp"(%arg1) : (tensor<4xf32>) -> tensor<4xf32>
//       "scf.yield"(%1, %arg2) : (tensor<4xf32>, tensor<4xf32>) -> ()
//     }, {
//       "scf.yield"(%arg1, %arg2) : (tensor<4xf32>, tensor<4xf32>) -> ()
//     }) : (i1) -> (tensor<4xf32>, tensor<4xf32>)
//     "func.return"(%0#0, %arg2) : (tensor<4xf32>, tensor<4xf32>) -> ()
//   }) : () -> ()
// }) : () -> ()
