// RUN: optc --passes=plan --threads=1
// A view of a number, which has no axes, shares its bytes: in another type, or as a tensor without axes. The
// checker took the first for a step without a place, as it asked for the sizes of a tensor.

func.func @main(%x: f32, %y: f32) -> tensor<i32> {
  %a = arith.addf %x, %y : f32
  %b = arith.bitcast %a : f32 to i32
  %c = arith.muli %b, %b : i32
  %d = nn.from_scalar %c : (i32) -> tensor<i32>
  %e = nn.neg %d : tensor<i32>
  return %e : tensor<i32>
}
// ----- output
// module {
//   func.func @main(%arg0: f32, %arg1: f32) -> tensor<i32> attributes {optc.arena = 4 : i64, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = arith.addf %arg0, %arg1 {mem.kernel = "pointwise", mem.place = [["out", 0, 4]]} : f32
//     %1 = arith.bitcast %0 {mem.kernel = "copy"} : f32 to i32
//     %2 = arith.muli %1, %1 {mem.kernel = "pointwise", mem.place = [["arena", 0, 4]]} : i32
//     %3 = nn.from_scalar %2 {mem.kernel = "copy"} : (i32) -> tensor<i32>
//     %4 = nn.neg %3 {mem.kernel = "pointwise", mem.place = [["out", 0, 4]]} : tensor<i32>
//     return %4 : tensor<i32>
//   }
// }
