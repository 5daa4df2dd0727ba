// RUN: optc --verify-diagnostics
// A missing attribute is an error that names it and its kind.

func.func @f(%a: i32) {
  // expected-error@+1 {{`arith.cmpi` lacks its attribute `predicate`}}
  %0 = "arith.cmpi"(%a, %a) : (i32, i32) -> i1
  // expected-error@+1 {{`arith.constant` lacks its attribute `value`, any attribute}}
  %1 = "arith.constant"() : () -> i32
  return
}
// ----- output
