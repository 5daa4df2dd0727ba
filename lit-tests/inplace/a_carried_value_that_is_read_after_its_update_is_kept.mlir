// RUN: optc --passes=inplace --remarks=inplace
// The update must not overwrite the loop-carried value while the same iteration still reads the old one.

func.func @main(%n: index, %one: index, %x: tensor<64xf32>) -> tensor<64xf32> {
  %r = scf.for %i = %one to %n step %one iter_args(%a = %x) -> (tensor<64xf32>) {
    %0 = nn.neg %a : tensor<64xf32>
    %1 = nn.mul %0, %a : tensor<64xf32>
    scf.yield %1 : tensor<64xf32>
  }
  return %r : tensor<64xf32>
}
// ----- output
// remark: result 0 does not overwrite operand 0: its bytes are read later
//  --> a_carried_value_that_is_read_after_its_update_is_kept.mlir:6:10
//   |
// 6 |     %0 = nn.neg %a : tensor<64xf32>
//   |          ^^^^^^
//   |
//   = note: a_carried_value_that_is_read_after_its_update_is_kept.mlir:10:3: it is read here
// module {
//   func.func @main(%arg0: index, %arg1: index, %arg2: tensor<64xf32>) -> tensor<64xf32> attributes {optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = scf.for %arg3 = %arg1 to %arg0 step %arg1 iter_args(%arg4 = %arg2) -> (tensor<64xf32>) {
//       %1 = nn.neg %arg4 {mem.kernel = "pointwise"} : tensor<64xf32>
//       %2 = nn.mul %1, %arg4 {mem.kernel = "pointwise", mem.tie = array<i64: 0>} : tensor<64xf32>
//       scf.yield %2 : tensor<64xf32>
//     }
//     return %0 : tensor<64xf32>
//   }
// }
