// RUN: optc --passes=canonicalize --print-generic

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
