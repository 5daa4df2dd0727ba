// RUN: optc --passes=plan
// A block argument, the operands that the branches pass and the output share one place, so a branch copies
// nothing.

func.func @main(%c: i1, %x: tensor<64xf32>) -> tensor<64xf32> {
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  %0 = nn.neg %x : tensor<64xf32>
  cf.br ^bb3(%0 : tensor<64xf32>)
^bb2:
  %1 = nn.abs %x : tensor<64xf32>
  cf.br ^bb3(%1 : tensor<64xf32>)
^bb3(%2: tensor<64xf32>):
  return %2 : tensor<64xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: i1, %arg1: tensor<64xf32>) -> tensor<64xf32> attributes {mem.args = [[], [], [], [["out", 0, 256]]], optc.arena = 0 : i64, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     cf.cond_br %arg0, ^bb1, ^bb2
//   ^bb1:  // pred: ^bb0
//     %0 = nn.neg %arg1 {mem.kernel = "pointwise", mem.place = [["out", 0, 256]]} : tensor<64xf32>
//     cf.br ^bb3(%0 : tensor<64xf32>)
//   ^bb2:  // pred: ^bb0
//     %1 = nn.abs %arg1 {mem.kernel = "pointwise", mem.place = [["out", 0, 256]]} : tensor<64xf32>
//     cf.br ^bb3(%1 : tensor<64xf32>)
//   ^bb3(%2: tensor<64xf32>):  // 2 preds: ^bb1, ^bb2
//     return %2 : tensor<64xf32>
//   }
// }
