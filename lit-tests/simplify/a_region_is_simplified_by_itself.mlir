// RUN: optc --passes=simplify --print-generic
// Each region is simplified on its own, and what its laws need stays inside it.

func.func @main(%c: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "scf.if"(%c) ({
    %1 = nn.sigmoid %x : tensor<4xf32>
    %2 = nn.mul %x, %1 : tensor<4xf32>
    "scf.yield"(%2) : (tensor<4xf32>) -> ()
  }, {
    %1 = nn.neg %x : tensor<4xf32>
    %2 = nn.neg %1 : tensor<4xf32>
    "scf.yield"(%2) : (tensor<4xf32>) -> ()
  }) : (i1) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// ----- output
// "builtin.module"() ({
//   "func.func"() <{function_type = (i1, tensor<4xf32>) -> tensor<4xf32>, sym_name = "main"}> ({
//   ^bb0(%arg0: i1, %arg1: tensor<4xf32>):
//     %0 = "scf.if"(%arg0) ({
//       %1 = "nn.silu"(%arg1) : (tensor<4xf32>) -> tensor<4xf32>
//       "scf.yield"(%1) : (tensor<4xf32>) -> ()
//     }, {
//       "scf.yield"(%arg1) : (tensor<4xf32>) -> ()
//     }) : (i1) -> tensor<4xf32>
//     "func.return"(%0) : (tensor<4xf32>) -> ()
//   }) {optc.stage = "simplify"} : () -> ()
// }) : () -> ()
