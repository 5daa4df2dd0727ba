// RUN: optc --passes=inplace --remarks=inplace
// A value from outside the loop is read again by the next iteration. Overwriting it at its last reader in the
// text would corrupt the second iteration.

func.func @main(%n: index, %one: index, %x: tensor<64xf32>) -> tensor<64xf32> {
  %y = nn.neg %x : tensor<64xf32>
  %r = scf.for %i = %one to %n step %one iter_args(%a = %x) -> (tensor<64xf32>) {
    %0 = nn.abs %y : tensor<64xf32>
    scf.yield %0 : tensor<64xf32>
  }
  return %r : tensor<64xf32>
}
// ----- output
// remark: result 0 does not overwrite operand 0: it is an input that the caller keeps
//  --> a_value_from_outside_a_loop_is_kept.mlir:6:8
//   |
// 6 |   %y = nn.neg %x : tensor<64xf32>
//   |        ^^^^^^
// remark: result 0 does not overwrite operand 0: its bytes are read again in the next iteration
//  --> a_value_from_outside_a_loop_is_kept.mlir:8:10
//   |
// 8 |     %0 = nn.abs %y : tensor<64xf32>
//   |          ^^^^^^
// module {
//   func.func @main(%arg0: index, %arg1: index, %arg2: tensor<64xf32>) -> tensor<64xf32> attributes {optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.neg %arg2 {mem.kernel = "pointwise"} : tensor<64xf32>
//     %1 = scf.for %arg3 = %arg1 to %arg0 step %arg1 iter_args(%arg4 = %arg2) -> (tensor<64xf32>) {
//       %2 = nn.abs %0 {mem.kernel = "pointwise"} : tensor<64xf32>
//       scf.yield %2 : tensor<64xf32>
//     }
//     return %1 : tensor<64xf32>
//   }
// }
