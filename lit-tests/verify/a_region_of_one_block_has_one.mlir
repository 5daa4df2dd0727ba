// RUN: optc --verify-diagnostics
// The regions of `scf.if` have exactly one block, which ends with a yield.

func.func @f(%c: i1) {
  // expected-error@+1 {{a region of `scf.if` has one block, found more}}
  scf.if %c {
    // expected-error@+1 {{a region of `scf.if` ends with a yield, found `cf.br`}}
    cf.br ^bb1
  ^bb1:
    scf.yield
  }
  return
}
// ----- output
