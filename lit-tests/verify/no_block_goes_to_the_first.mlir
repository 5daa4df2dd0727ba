// RUN: optc --verify-diagnostics

func.func @f() {
^bb0:
  // expected-error@+1 {{`cf.br` goes to the first block of its region}}
  cf.br ^bb0
}
// ----- output
