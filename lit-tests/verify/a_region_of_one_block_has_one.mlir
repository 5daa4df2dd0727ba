// RUN: optc --verify-diagnostics

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
