// RUN: optc --passes=cse --print-generic
// Regions are compared by structure, so two equal conditions merge and one that reads another value stays.
// Comparing only operands would merge all three.

func.func @main(%c: i1, %x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = "scf.if"(%c) ({
    %3 = nn.exp %x : tensor<4xf32>
    "scf.yield"(%3) : (tensor<4xf32>) -> ()
  }, {
    "scf.yield"(%y) : (tensor<4xf32>) -> ()
  }) : (i1) -> tensor<4xf32>
  %1 = "scf.if"(%c) ({
    %3 = nn.exp %x : tensor<4xf32>
    "scf.yield"(%3) : (tensor<4xf32>) -> ()
  }, {
    "scf.yield"(%y) : (tensor<4xf32>) -> ()
  }) : (i1) -> tensor<4xf32>
  %2 = "scf.if"(%c) ({
    %3 = nn.exp %y : tensor<4xf32>
    "scf.yield"(%3) : (tensor<4xf32>) -> ()
  }, {
    "scf.yield"(%y) : (tensor<4xf32>) -> ()
  }) : (i1) -> tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
// ----- output
// "builtin.module"() ({
//   "func.func"() <{function_type = (i1, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>), sym_name = "main"}> ({
//   ^bb0(%arg0: i1, %arg1: tensor<4xf32>, %arg2: tensor<4xf32>):
//     %0 = "scf.if"(%arg0) ({
//       %3 = "nn.exp"(%arg1) : (tensor<4xf32>) -> tensor<4xf32>
//       "scf.yield"(%3) : (tensor<4xf32>) -> ()
//     }, {
//       "scf.yield"(%arg2) : (tensor<4xf32>) -> ()
//     }) : (i1) -> tensor<4xf32>
//     %1 = "scf.if"(%arg0) ({
//       %2 = "nn.exp"(%arg2) : (tensor<4xf32>) -> tensor<4xf32>
//       "scf.yield"(%2) : (tensor<4xf32>) -> ()
//     }, {
//       "scf.yield"(%arg2) : (tensor<4xf32>) -> ()
//     }) : (i1) -> tensor<4xf32>
//     "func.return"(%0, %0, %1) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> ()
//   }) : () -> ()
// }) : () -> ()
