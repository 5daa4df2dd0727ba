// RUN: optc --verify-diagnostics
// A yield must be in an operation that takes the yielded values, and `scf.condition` in a conditional loop.

func.func @f() {
  // expected-error@+1 {{`scf.yield` must be in an operation that takes the yielded values}}
  scf.yield
}

func.func @g(%c: i1) {
  // expected-error@+1 {{`scf.condition` must be in a conditional loop}}
  scf.condition(%c)
}
// ----- output
