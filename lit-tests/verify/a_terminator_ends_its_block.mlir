// RUN: optc --verify-diagnostics

func.func @f() {
  // expected-error@+1 {{`func.return` ends a block, but stands before its end}}
  return
  return
}
// ----- output
