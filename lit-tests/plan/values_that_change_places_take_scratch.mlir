// RUN: optc --passes=plan
// Swapping two loop-carried values needs a temporary copy, which is planned as scratch of the yield.

func.func @main(%n: index, %one: index, %x: tensor<64xf32>, %y: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %r:2 = scf.for %i = %one to %n step %one iter_args(%a = %x, %b = %y) -> (tensor<64xf32>, tensor<64xf32>) {
    scf.yield %b, %a : tensor<64xf32>, tensor<64xf32>
  }
  return %r#0, %r#1 : tensor<64xf32>, tensor<64xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: index, %arg1: index, %arg2: tensor<64xf32>, %arg3: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) attributes {optc.arena = 256 : i64, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0:2 = scf.for %arg4 = %arg1 to %arg0 step %arg1 iter_args(%arg5 = %arg2, %arg6 = %arg3) -> (tensor<64xf32>, tensor<64xf32>) {
//       scf.yield {mem.place = [["arena", 0, 256]], mem.scratch = 256 : i64} %arg6, %arg5 : tensor<64xf32>, tensor<64xf32>
//     } {mem.args = [[["arena", 0, 8], ["out", 0, 256], ["out", 1, 256]]], mem.place = [["out", 0, 256], ["out", 1, 256]]}
//     return %0#0, %0#1 : tensor<64xf32>, tensor<64xf32>
//   }
// }
