// RUN: optc --passes=canonicalize --print-generic
// An `scf.if` on a constant is replaced by the region that runs. The other region disappears together with
// its side effects: it never runs.

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %true = "arith.constant"() <{value = true}> : () -> i1
  %0 = "scf.if"(%true) ({
    %1 = nn.exp %x : tensor<4xf32>
    "scf.yield"(%1) : (tensor<4xf32>) -> ()
  }, {
    "scf.yield"(%x) : (tensor<4xf32>) -> ()
  }) : (i1) -> tensor<4xf32>
  %false = "arith.constant"() <{value = false}> : () -> i1
  "scf.if"(%false) ({
    "cf.assert"(%false) <{msg = "never"}> : (i1) -> ()
    "scf.yield"() : () -> ()
  }, {
  }) : (i1) -> ()
  return %0 : tensor<4xf32>
}
// ----- output
// "builtin.module"() ({
//   "func.func"() <{function_type = (tensor<4xf32>) -> tensor<4xf32>, sym_name = "main"}> ({
//   ^bb0(%arg0: tensor<4xf32>):
//     %0 = "nn.exp"(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
//     "func.return"(%0) : (tensor<4xf32>) -> ()
//   }) : () -> ()
// }) : () -> ()
