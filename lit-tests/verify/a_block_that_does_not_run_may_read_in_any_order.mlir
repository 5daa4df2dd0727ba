// RUN: optc --verify-diagnostics
// MLIR accepts any order of definitions in an unreachable block, so this text must be accepted too.

func.func @f(%a: i32) -> i32 {
  return %a : i32
^bb1:
  %0 = arith.addi %1, %a : i32
  %1 = arith.addi %0, %a : i32
  return %1 : i32
}
// ----- output
// module {
//   func.func @f(%arg0: i32) -> i32 {
//     return %arg0 : i32
//   ^bb1:  // no predecessors
//     %0 = arith.addi %1, %arg0 : i32
//     %1 = arith.addi %0, %arg0 : i32
//     return %1 : i32
//   }
// }
