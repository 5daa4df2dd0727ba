// RUN: optc --verify-diagnostics
// A definition must dominate its reader: here one of two edges into ^bb2 skips it.

func.func @f(%c: i1, %a: i32) -> i32 {
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  %0 = arith.addi %a, %a : i32
  cf.br ^bb2
^bb2:
  // expected-error@+1 {{operand 0 of `func.return` does not dominate this use}}
  return %0 : i32
}
// ----- output
