// RUN: optc --verify-diagnostics
// A constant's result has its value's type. A mismatch would make every reader misread the bytes.

func.func @f() {
  // expected-error@+1 {{result 0 of `arith.constant` must be `i32`, is `i64`}} expected-error@+1 {{the value of the constant must be `i64`, is `i32`}}
  %0 = "arith.constant"() <{value = 1 : i32}> : () -> i64
  // expected-error@+1 {{`arith.constant`: an integer here has no sign}}
  %1 = arith.constant 1 : si32
  return
}
// ----- output
