// RUN: optc --passes=cse,dce --print-generic
// Two calls may have different effects and a loop may not terminate, so neither is merged or removed, even
// where the results are unused.

func.func private @f(f32) -> f32

func.func @main(%c: i1, %x: f32) -> (f32, f32) {
  %0 = call @f(%x) : (f32) -> f32
  %1 = call @f(%x) : (f32) -> f32
  %2 = "scf.while"(%x) ({
  ^bb0(%y: f32):
    "scf.condition"(%c, %y) : (i1, f32) -> ()
  }, {
  ^bb0(%y: f32):
    "scf.yield"(%y) : (f32) -> ()
  }) : (f32) -> f32
  return %0, %1 : f32, f32
}
// ----- output
// "builtin.module"() ({
//   "func.func"() <{function_type = (f32) -> f32, sym_name = "f", sym_visibility = "private"}> ({
//   }) : () -> ()
//   "func.func"() <{function_type = (i1, f32) -> (f32, f32), sym_name = "main"}> ({
//   ^bb0(%arg0: i1, %arg1: f32):
//     %0 = "func.call"(%arg1) <{callee = @f}> : (f32) -> f32
//     %1 = "func.call"(%arg1) <{callee = @f}> : (f32) -> f32
//     %2 = "scf.while"(%arg1) ({
//     ^bb0(%arg3: f32):
//       "scf.condition"(%arg0, %arg3) : (i1, f32) -> ()
//     }, {
//     ^bb0(%arg2: f32):
//       "scf.yield"(%arg2) : (f32) -> ()
//     }) : (f32) -> f32
//     "func.return"(%0, %1) : (f32, f32) -> ()
//   }) : () -> ()
// }) : () -> ()
