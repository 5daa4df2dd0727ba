// RUN: optc --verify-diagnostics
// The number of operands follows from the operation's row.

func.func @f(%a: i32) -> i32 {
  // expected-error@+1 {{`arith.addi` has 2 operands, found 1}}
  %0 = "arith.addi"(%a) : (i32) -> i32
  // expected-error@+1 {{`func.call_indirect` has at least 1 operand, found 0}}
  "func.call_indirect"() : () -> ()
  return %0 : i32
}
// ----- output
