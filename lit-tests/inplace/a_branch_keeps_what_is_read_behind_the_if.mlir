// RUN: optc --passes=inplace --remarks=inplace
// A region may not overwrite a value that is read after the `scf.if`; the last reader inside the region is
// not the last reader.

func.func @main(%c: i1, %x: tensor<64xf32>) -> tensor<64xf32> {
  %y = nn.neg %x : tensor<64xf32>
  %r = scf.if %c -> (tensor<64xf32>) {
    %0 = nn.abs %y : tensor<64xf32>
    scf.yield %0 : tensor<64xf32>
  } else {
    scf.yield %x : tensor<64xf32>
  }
  %s = nn.add %r, %y : tensor<64xf32>
  return %s : tensor<64xf32>
}
// ----- output
// remark: result 0 does not overwrite operand 0: it is an input that the caller keeps
//  --> a_branch_keeps_what_is_read_behind_the_if.mlir:6:8
//   |
// 6 |   %y = nn.neg %x : tensor<64xf32>
//   |        ^^^^^^
// remark: result 0 does not overwrite operand 0: its bytes are read later
//  --> a_branch_keeps_what_is_read_behind_the_if.mlir:8:10
//   |
// 8 |     %0 = nn.abs %y : tensor<64xf32>
//   |          ^^^^^^
//   |
//   = note: a_branch_keeps_what_is_read_behind_the_if.mlir:13:8: it is read here
// module {
//   func.func @main(%arg0: i1, %arg1: tensor<64xf32>) -> tensor<64xf32> attributes {optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.neg %arg1 {mem.kernel = "pointwise"} : tensor<64xf32>
//     %1 = scf.if %arg0 -> (tensor<64xf32>) {
//       %3 = nn.abs %0 {mem.kernel = "pointwise"} : tensor<64xf32>
//       scf.yield %3 : tensor<64xf32>
//     } else {
//       scf.yield %arg1 : tensor<64xf32>
//     }
//     %2 = nn.add %1, %0 {mem.kernel = "pointwise", mem.tie = array<i64: 0>} : tensor<64xf32>
//     return %2 : tensor<64xf32>
//   }
// }
