// RUN: optc --passes=inline,symbol-dce --print-generic
// The calling block is split, and each return becomes a jump to its second half with the results as block
// arguments.

func.func private @choose(%c: i1, %x: f32, %y: f32) -> f32 {
  "cf.cond_br"(%c)[^left, ^right] <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (i1) -> ()
^left:
  return %x : f32
^right:
  return %y : f32
}

func.func @main(%c: i1, %x: f32, %y: f32) -> f32 {
  %0 = call @choose(%c, %x, %y) : (i1, f32, f32) -> f32
  %1 = call @choose(%c, %0, %x) : (i1, f32, f32) -> f32
  return %1 : f32
}
// ----- output
// "builtin.module"() ({
//   "func.func"() <{function_type = (i1, f32, f32) -> f32, sym_name = "main"}> ({
//   ^bb0(%arg0: i1, %arg1: f32, %arg2: f32):
//     "cf.cond_br"(%arg0)[^bb1, ^bb2] <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (i1) -> ()
//   ^bb1:  // pred: ^bb0
//     "cf.br"(%arg1)[^bb3] : (f32) -> ()
//   ^bb2:  // pred: ^bb0
//     "cf.br"(%arg2)[^bb3] : (f32) -> ()
//   ^bb3(%0: f32):  // 2 preds: ^bb1, ^bb2
//     "cf.cond_br"(%arg0)[^bb4, ^bb5] <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (i1) -> ()
//   ^bb4:  // pred: ^bb3
//     "cf.br"(%0)[^bb6] : (f32) -> ()
//   ^bb5:  // pred: ^bb3
//     "cf.br"(%arg1)[^bb6] : (f32) -> ()
//   ^bb6(%1: f32):  // 2 preds: ^bb4, ^bb5
//     "func.return"(%1) : (f32) -> ()
//   }) : () -> ()
// }) : () -> ()
