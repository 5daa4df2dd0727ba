// RUN: optc --passes=canonicalize --print-generic
// The first region of an `scf.while` runs before the condition is tested. If the condition is always false
// the loop is that region, once; dropping it would lose its results.

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "scf.while"(%x) ({
  ^bb0(%a: tensor<4xf32>):
    %false = "arith.constant"() <{value = false}> : () -> i1
    %1 = nn.exp %a : tensor<4xf32>
    "scf.condition"(%false, %1) : (i1, tensor<4xf32>) -> ()
  }, {
  ^bb0(%a: tensor<4xf32>):
    "scf.yield"(%a) : (tensor<4xf32>) -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32>
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
