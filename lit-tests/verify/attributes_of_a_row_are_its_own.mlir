// RUN: optc --verify-diagnostics
// A misspelt inherent attribute is an error. It would otherwise be ignored silently.

func.func @f(%a: i32) {
  // expected-error@+1 {{`arith.addi` has no attribute `overflowFlag`}}
  %0 = "arith.addi"(%a, %a) <{overflowFlag = 1 : i32}> : (i32, i32) -> i32
  return
}
// ----- output
