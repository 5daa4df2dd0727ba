// RUN: optc --verify-diagnostics
// A value must be defined before it is read within a block.

func.func @f(%a: i32) -> i32 {
  // expected-error@+1 {{operand 0 of `arith.addi` does not dominate this use}}
  %0 = arith.addi %1, %a : i32
  %1 = arith.addi %a, %a : i32
  return %0 : i32
}
// ----- output
