// RUN: optc --verify-diagnostics
// The entry block has no predecessors, as in MLIR; its arguments are the function's.

func.func @f() {
^bb0:
  // expected-error@+1 {{`cf.br` goes to the first block of its region}}
  cf.br ^bb0
}
// ----- output
