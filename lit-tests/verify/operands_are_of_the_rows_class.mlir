// RUN: optc --verify-diagnostics

func.func @f(%a: i32, %b: si32) {
  // expected-error@+1 {{operand 0 (`lhs`) of `arith.addf` is a float, or a vector or tensor of floats, found `i32`}} expected-error@+1 {{operand 1 (`rhs`)}} expected-error@+1 {{result 0}}
  %0 = arith.addf %a, %a : i32
  // expected-error@+1 {{operand 0 (`lhs`) of `arith.addi` is an integer without a sign or index}} expected-error@+1 {{operand 1}} expected-error@+1 {{result 0}}
  %1 = arith.addi %b, %b : si32
  return
}
// ----- output
