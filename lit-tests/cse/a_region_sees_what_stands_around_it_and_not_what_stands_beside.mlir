// RUN: optc --passes=cse --print-generic
// A region may reuse a value that dominates it, but not one from a sibling region, which may not have run.

func.func @main(%c: i1, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = nn.exp %x : tensor<4xf32>
  %1 = "scf.if"(%c) ({
    %3 = nn.exp %x : tensor<4xf32>
    %4 = nn.sqrt %3 : tensor<4xf32>
    "scf.yield"(%4) : (tensor<4xf32>) -> ()
  }, {
    %3 = nn.sqrt %0 : tensor<4xf32>
    %4 = nn.neg %3 : tensor<4xf32>
    "scf.yield"(%4) : (tensor<4xf32>) -> ()
  }) : (i1) -> tensor<4xf32>
  %2 = nn.sqrt %0 : tensor<4xf32>
  return %1, %2 : tensor<4xf32>, tensor<4xf32>
}
// ----- output
// "builtin.module"() ({
//   "func.func"() <{function_type = (i1, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>), sym_name = "main"}> ({
//   ^bb0(%arg0: i1, %arg1: tensor<4xf32>):
//     %0 = "nn.exp"(%arg1) : (tensor<4xf32>) -> tensor<4xf32>
//     %1 = "scf.if"(%arg0) ({
//       %5 = "nn.sqrt"(%0) : (tensor<4xf32>) -> tensor<4xf32>
//       "scf.yield"(%5) : (tensor<4xf32>) -> ()
//     }, {
//       %3 = "nn.sqrt"(%0) : (tensor<4xf32>) -> tensor<4xf32>
//       %4 = "nn.neg"(%3) : (tensor<4xf32>) -> tensor<4xf32>
//       "scf.yield"(%4) : (tensor<4xf32>) -> ()
//     }) : (i1) -> tensor<4xf32>
//     %2 = "nn.sqrt"(%0) : (tensor<4xf32>) -> tensor<4xf32>
//     "func.return"(%1, %2) : (tensor<4xf32>, tensor<4xf32>) -> ()
//   }) : () -> ()
// }) : () -> ()
