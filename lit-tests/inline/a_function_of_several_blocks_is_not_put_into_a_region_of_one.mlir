// RUN: optc --passes=inline --print-generic --remarks=inline
// A region of `scf.if` has one block, so a function of several cannot be inlined there. The remark says why
// the call stays.

func.func private @choose(%c: i1, %x: f32, %y: f32) -> f32 {
  "cf.cond_br"(%c)[^left, ^right] <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (i1) -> ()
^left:
  return %x : f32
^right:
  return %y : f32
}

func.func @main(%c: i1, %x: f32, %y: f32) -> f32 {
  %0 = "scf.if"(%c) ({
    %1 = call @choose(%c, %x, %y) : (i1, f32, f32) -> f32
    "scf.yield"(%1) : (f32) -> ()
  }, {
    "scf.yield"(%x) : (f32) -> ()
  }) : (i1) -> f32
  return %0 : f32
}
// ----- output
// remark: the call is kept: the function has several blocks, and the operation around the call takes only one
//   --> a_function_of_several_blocks_is_not_put_into_a_region_of_one.mlir:15:10
//    |
// 15 |     %1 = call @choose(%c, %x, %y) : (i1, f32, f32) -> f32
//    |          ^^^^
// "builtin.module"() ({
//   "func.func"() <{function_type = (i1, f32, f32) -> f32, sym_name = "choose", sym_visibility = "private"}> ({
//   ^bb0(%arg3: i1, %arg4: f32, %arg5: f32):
//     "cf.cond_br"(%arg3)[^bb1, ^bb2] <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (i1) -> ()
//   ^bb1:  // pred: ^bb0
//     "func.return"(%arg4) : (f32) -> ()
//   ^bb2:  // pred: ^bb0
//     "func.return"(%arg5) : (f32) -> ()
//   }) : () -> ()
//   "func.func"() <{function_type = (i1, f32, f32) -> f32, sym_name = "main"}> ({
//   ^bb0(%arg0: i1, %arg1: f32, %arg2: f32):
//     %0 = "scf.if"(%arg0) ({
//       %1 = "func.call"(%arg0, %arg1, %arg2) <{callee = @choose}> : (i1, f32, f32) -> f32
//       "scf.yield"(%1) : (f32) -> ()
//     }, {
//       "scf.yield"(%arg1) : (f32) -> ()
//     }) : (i1) -> f32
//     "func.return"(%0) : (f32) -> ()
//   }) : () -> ()
// }) : () -> ()
