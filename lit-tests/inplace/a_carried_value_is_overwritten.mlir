// RUN: optc --passes=inplace
// The loop-carried argument dies in each iteration, so the body can update it in place. One buffer then
// serves the whole loop.

func.func @main(%n: index, %one: index, %x: tensor<64xf32>) -> tensor<64xf32> {
  %r = scf.for %i = %one to %n step %one iter_args(%a = %x) -> (tensor<64xf32>) {
    %0 = nn.neg %a : tensor<64xf32>
    %1 = nn.abs %0 : tensor<64xf32>
    scf.yield %1 : tensor<64xf32>
  }
  return %r : tensor<64xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: index, %arg1: index, %arg2: tensor<64xf32>) -> tensor<64xf32> attributes {optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = scf.for %arg3 = %arg1 to %arg0 step %arg1 iter_args(%arg4 = %arg2) -> (tensor<64xf32>) {
//       %1 = nn.neg %arg4 {mem.kernel = "pointwise", mem.tie = array<i64: 0>} : tensor<64xf32>
//       %2 = nn.abs %1 {mem.kernel = "pointwise", mem.tie = array<i64: 0>} : tensor<64xf32>
//       scf.yield %2 : tensor<64xf32>
//     }
//     return %0 : tensor<64xf32>
//   }
// }
