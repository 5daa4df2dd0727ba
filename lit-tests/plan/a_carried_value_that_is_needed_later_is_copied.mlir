// RUN: optc --passes=plan
// The initial value is read after the loop, and the next value is made while the argument is still read. Both
// need places of their own, and a copy.

func.func @main(%n: index, %one: index, %x: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %y = nn.neg %x : tensor<64xf32>
  %r:2 = scf.for %i = %one to %n step %one iter_args(%a = %y, %b = %x) -> (tensor<64xf32>, tensor<64xf32>) {
    %0 = nn.abs %a : tensor<64xf32>
    %1 = nn.add %0, %a : tensor<64xf32>
    %2 = nn.sub %1, %b : tensor<64xf32>
    scf.yield %0, %2 : tensor<64xf32>, tensor<64xf32>
  }
  %s = nn.add %r#0, %y : tensor<64xf32>
  return %s, %r#1 : tensor<64xf32>, tensor<64xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: index, %arg1: index, %arg2: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) attributes {optc.arena = 1024 : i64, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.neg %arg2 {mem.kernel = "pointwise", mem.place = [["arena", 0, 256]]} : tensor<64xf32>
//     %1:2 = scf.for %arg3 = %arg1 to %arg0 step %arg1 iter_args(%arg4 = %0, %arg5 = %arg2) -> (tensor<64xf32>, tensor<64xf32>) {
//       %3 = nn.abs %arg4 {mem.kernel = "pointwise", mem.place = [["out", 0, 256]]} : tensor<64xf32>
//       %4 = nn.add %3, %arg4 {mem.kernel = "pointwise", mem.place = [["arena", 512, 256]]} : tensor<64xf32>
//       %5 = nn.sub %4, %arg5 {mem.kernel = "pointwise", mem.place = [["arena", 768, 256]]} : tensor<64xf32>
//       scf.yield %3, %5 : tensor<64xf32>, tensor<64xf32>
//     } {mem.args = [[["arena", 512, 8], ["arena", 256, 256], ["out", 1, 256]]], mem.place = [["arena", 256, 256], ["out", 1, 256]]}
//     %2 = nn.add %1#0, %0 {mem.kernel = "pointwise", mem.place = [["out", 0, 256]]} : tensor<64xf32>
//     return %2, %1#1 : tensor<64xf32>, tensor<64xf32>
//   }
// }
