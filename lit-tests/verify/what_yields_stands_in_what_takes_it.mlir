// RUN: optc --verify-diagnostics
// A yield stands in an operation that takes what it yields, and `scf.condition` in a conditional loop.

func.func @f() {
  // expected-error@+1 {{`scf.yield` stands in an operation that takes what it yields}}
  scf.yield
}

func.func @g(%c: i1) {
  // expected-error@+1 {{`scf.condition` stands in a conditional loop}}
  scf.condition(%c)
}
// ----- output
