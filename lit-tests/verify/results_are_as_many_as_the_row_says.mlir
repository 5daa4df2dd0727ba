// RUN: optc --verify-diagnostics
// The number of results follows from the operation's row.

func.func @f(%a: i32) {
  // expected-error@+1 {{`arith.addi` has 1 result, found 2}}
  %0:2 = "arith.addi"(%a, %a) : (i32, i32) -> (i32, i32)
  return
}
// ----- output
