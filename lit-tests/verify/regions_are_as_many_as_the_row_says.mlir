// RUN: optc --verify-diagnostics
// The number of regions follows from the operation's row.

func.func @f(%c: i1) {
  // expected-error@+1 {{`scf.if` has 2 regions, found 1}}
  "scf.if"(%c) ({
    scf.yield
  }) : (i1) -> ()
  return
}
// ----- output
