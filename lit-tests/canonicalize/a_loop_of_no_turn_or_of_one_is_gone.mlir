// RUN: optc --passes=canonicalize --print-generic
// A loop whose bounds say that it runs zero times or once becomes its initial values or its body. A loop of
// two iterations stays, so the count must be right.

func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %one = "arith.constant"() <{value = 1 : index}> : () -> index
  %three = "arith.constant"() <{value = 3 : index}> : () -> index
  %never = "scf.for"(%three, %one, %one, %x) ({
  ^bb0(%i: index, %a: tensor<4xf32>):
    %0 = nn.exp %a : tensor<4xf32>
    "scf.yield"(%0) : (tensor<4xf32>) -> ()
  }) : (index, index, index, tensor<4xf32>) -> tensor<4xf32>
  %once = "scf.for"(%one, %three, %three, %x) ({
  ^bb0(%i: index, %a: tensor<4xf32>):
    %0 = nn.exp %a : tensor<4xf32>
    "scf.yield"(%0) : (tensor<4xf32>) -> ()
  }) : (index, index, index, tensor<4xf32>) -> tensor<4xf32>
  %twice = "scf.for"(%one, %three, %one, %x) ({
  ^bb0(%i: index, %a: tensor<4xf32>):
    %0 = nn.exp %a : tensor<4xf32>
    "scf.yield"(%0) : (tensor<4xf32>) -> ()
  }) : (index, index, index, tensor<4xf32>) -> tensor<4xf32>
  return %never, %once, %twice : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
// ----- output
// "builtin.module"() ({
//   "func.func"() <{function_type = (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>), sym_name = "main"}> ({
//   ^bb0(%arg0: tensor<4xf32>):
//     %0 = "arith.constant"() <{value = 1 : index}> : () -> index
//     %1 = "arith.constant"() <{value = 3 : index}> : () -> index
//     %2 = "nn.exp"(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
//     %3 = "scf.for"(%0, %1, %0, %arg0) ({
//     ^bb0(%arg1: index, %arg2: tensor<4xf32>):
//       %4 = "nn.exp"(%arg2) : (tensor<4xf32>) -> tensor<4xf32>
//       "scf.yield"(%4) : (tensor<4xf32>) -> ()
//     }) : (index, index, index, tensor<4xf32>) -> tensor<4xf32>
//     "func.return"(%arg0, %2, %3) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> ()
//   }) : () -> ()
// }) : () -> ()
