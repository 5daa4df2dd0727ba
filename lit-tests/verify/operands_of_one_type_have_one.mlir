// RUN: optc --verify-diagnostics
// Operands and results that must share a type do.

func.func @f(%a: i32, %b: i64) {
  // expected-error@+1 {{operands and results of `arith.addi` have one type, found `i32` and `i64`}}
  %0 = "arith.addi"(%a, %b) : (i32, i64) -> i32
  return
}
// ----- output
