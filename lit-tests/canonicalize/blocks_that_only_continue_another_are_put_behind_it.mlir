// RUN: optc --passes=canonicalize --print-generic
// A block whose only predecessor ends in a jump is appended to that predecessor, and unreachable blocks go.
// Straight-line code is what most later passes handle best.

func.func @main(%c: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
  "cf.br"(%x)[^bb1] : (tensor<4xf32>) -> ()
^bb1(%a: tensor<4xf32>):
  %0 = nn.exp %a : tensor<4xf32>
  "cf.br"()[^bb2] : () -> ()
^bb2:
  %1 = nn.neg %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
^unreachable:
  %2 = nn.sqrt %x : tensor<4xf32>
  "cf.br"(%2)[^bb1] : (tensor<4xf32>) -> ()
}
// ----- output
// "builtin.module"() ({
//   "func.func"() <{function_type = (i1, tensor<4xf32>) -> tensor<4xf32>, sym_name = "main"}> ({
//   ^bb0(%arg0: i1, %arg1: tensor<4xf32>):
//     %0 = "nn.exp"(%arg1) : (tensor<4xf32>) -> tensor<4xf32>
//     %1 = "nn.neg"(%0) : (tensor<4xf32>) -> tensor<4xf32>
//     "func.return"(%1) : (tensor<4xf32>) -> ()
//   }) : () -> ()
// }) : () -> ()
