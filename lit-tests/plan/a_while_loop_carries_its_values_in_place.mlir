// RUN: optc --passes=inplace,plan
// The arguments of both regions of a while loop and its results share buffers, so passing them on copies
// nothing.

func.func @main(%limit: f32, %f0: f32, %one: f32, %x: tensor<64xf32>) -> tensor<64xf32> {
  %r:2 = scf.while (%a = %x, %n = %f0) : (tensor<64xf32>, f32) -> (tensor<64xf32>, f32) {
    %t = arith.cmpf olt, %n, %limit : f32
    scf.condition(%t) %a, %n : tensor<64xf32>, f32
  } do {
  ^bb0(%b: tensor<64xf32>, %m: f32):
    %c = nn.neg %b : tensor<64xf32>
    %next = arith.addf %m, %one : f32
    scf.yield %c, %next : tensor<64xf32>, f32
  }
  return %r#0 : tensor<64xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: f32, %arg1: f32, %arg2: f32, %arg3: tensor<64xf32>) -> tensor<64xf32> attributes {optc.arena = 65 : i64, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0:2 = scf.while (%arg4 = %arg3, %arg5 = %arg1) : (tensor<64xf32>, f32) -> (tensor<64xf32>, f32) {
//       %1 = arith.cmpf olt, %arg5, %arg0 {mem.kernel = "pointwise", mem.place = [["arena", 64, 1]]} : f32
//       scf.condition(%1) %arg4, %arg5 : tensor<64xf32>, f32
//     } do {
//     ^bb0(%arg4: tensor<64xf32>, %arg5: f32):
//       %1 = nn.neg %arg4 {mem.kernel = "pointwise", mem.place = [["out", 0, 256]], mem.tie = array<i64: 0>} : tensor<64xf32>
//       %2 = arith.addf %arg5, %arg2 {mem.kernel = "pointwise", mem.place = [["arena", 0, 4]], mem.tie = array<i64: 0>} : f32
//       scf.yield %1, %2 : tensor<64xf32>, f32
//     } attributes {mem.args = [[["out", 0, 256], ["arena", 0, 4]], [["out", 0, 256], ["arena", 0, 4]]], mem.place = [["out", 0, 256], ["arena", 0, 4]]}
//     return %0#0 : tensor<64xf32>
//   }
// }
