// RUN: optc --passes=cse --print-generic
// The option `--print-generic` prints MLIR's generic form, which other tools read.

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.exp %x : tensor<4xf32>
  %1 = nn.exp %x : tensor<4xf32>
  %2 = nn.add %0, %1 : tensor<4xf32>
  %3 = nn.neg %2 : tensor<4xf32>
  return %2 : tensor<4xf32>
}
// ----- output
// "builtin.module"() ({
//   "func.func"() <{function_type = (tensor<4xf32>) -> tensor<4xf32>, sym_name = "main"}> ({
//   ^bb0(%arg0: tensor<4xf32>):
//     %0 = "nn.exp"(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
//     %1 = "nn.add"(%0, %0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
//     %2 = "nn.neg"(%1) : (tensor<4xf32>) -> tensor<4xf32>
//     "func.return"(%1) : (tensor<4xf32>) -> ()
//   }) : () -> ()
// }) : () -> ()
