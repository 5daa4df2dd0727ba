// RUN: optc --passes=inplace --remarks=inplace
// %y dies in ^bb2 but not in ^bb1, which may run again. Liveness must follow the edges, not the order of the
// text.

func.func @main(%c: i1, %x: tensor<64xf32>) -> tensor<64xf32> {
  %y = nn.neg %x : tensor<64xf32>
  cf.br ^bb1
^bb1:
  %0 = nn.abs %y : tensor<64xf32>
  cf.cond_br %c, ^bb1, ^bb2
^bb2:
  %1 = nn.floor %y : tensor<64xf32>
  %2 = nn.add %0, %1 : tensor<64xf32>
  return %2 : tensor<64xf32>
}
// ----- output
// remark: result 0 does not overwrite operand 0: it is an input that the caller keeps
//  --> a_block_overwrites_what_no_way_from_it_reads.mlir:6:8
//   |
// 6 |   %y = nn.neg %x : tensor<64xf32>
//   |        ^^^^^^
// remark: result 0 does not overwrite operand 0: its bytes are read later
//  --> a_block_overwrites_what_no_way_from_it_reads.mlir:9:8
//   |
// 9 |   %0 = nn.abs %y : tensor<64xf32>
//   |        ^^^^^^
//   |
//   = note: a_block_overwrites_what_no_way_from_it_reads.mlir:12:8: it is read here
// module {
//   func.func @main(%arg0: i1, %arg1: tensor<64xf32>) -> tensor<64xf32> attributes {optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.neg %arg1 {mem.kernel = "pointwise"} : tensor<64xf32>
//     cf.br ^bb1
//   ^bb1:  // 2 preds: ^bb0, ^bb1
//     %1 = nn.abs %0 {mem.kernel = "pointwise"} : tensor<64xf32>
//     cf.cond_br %arg0, ^bb1, ^bb2
//   ^bb2:  // pred: ^bb1
//     %2 = nn.floor %0 {mem.kernel = "pointwise", mem.tie = array<i64: 0>} : tensor<64xf32>
//     %3 = nn.add %1, %2 {mem.kernel = "pointwise", mem.tie = array<i64: 0>} : tensor<64xf32>
//     return %3 : tensor<64xf32>
//   }
// }
