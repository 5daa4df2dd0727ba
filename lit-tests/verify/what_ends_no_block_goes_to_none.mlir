// RUN: optc --verify-diagnostics
// Only a terminator has successors.

func.func @f(%a: i32) {
  // expected-error@+1 {{`arith.addi` ends no block, but has successors}} expected-error@+1 {{the number of block arguments is 0, found 1}}
  %0 = "arith.addi"(%a, %a)[^bb1] : (i32, i32) -> i32
  return
^bb1:
  return
}
// ----- output
