// RUN: optc --passes=plan
// Initial value, argument, yielded value and result of a loop share one buffer, and the value from outside
// keeps its bytes to the end. Apart they would cost a copy per iteration.

func.func @main(%n: index, %one: index, %x: tensor<64xf32>) -> tensor<64xf32> {
  %y = nn.neg %x : tensor<64xf32>
  %z = nn.abs %x : tensor<64xf32>
  %r = scf.for %i = %one to %n step %one iter_args(%a = %y) -> (tensor<64xf32>) {
    %0 = nn.add %z, %z : tensor<64xf32>
    %1 = nn.floor %a : tensor<64xf32>
    %2 = nn.mul %0, %1 : tensor<64xf32>
    scf.yield %2 : tensor<64xf32>
  }
  %s = nn.sqrt %r : tensor<64xf32>
  return %s : tensor<64xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: index, %arg1: index, %arg2: tensor<64xf32>) -> tensor<64xf32> attributes {optc.arena = 768 : i64, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.neg %arg2 {mem.kernel = "pointwise", mem.place = [["arena", 0, 256]]} : tensor<64xf32>
//     %1 = nn.abs %arg2 {mem.kernel = "pointwise", mem.place = [["out", 0, 256]]} : tensor<64xf32>
//     %2 = scf.for %arg3 = %arg1 to %arg0 step %arg1 iter_args(%arg4 = %0) -> (tensor<64xf32>) {
//       %4 = nn.add %1, %1 {mem.kernel = "pointwise", mem.place = [["arena", 256, 256]]} : tensor<64xf32>
//       %5 = nn.floor %arg4 {mem.kernel = "pointwise", mem.place = [["arena", 512, 256]]} : tensor<64xf32>
//       %6 = nn.mul %4, %5 {mem.kernel = "pointwise", mem.place = [["arena", 0, 256]]} : tensor<64xf32>
//       scf.yield %6 : tensor<64xf32>
//     } {mem.args = [[["arena", 256, 8], ["arena", 0, 256]]], mem.place = [["arena", 0, 256]]}
//     %3 = nn.sqrt %2 {mem.kernel = "pointwise", mem.place = [["out", 0, 256]]} : tensor<64xf32>
//     return %3 : tensor<64xf32>
//   }
// }
