// RUN: optc --verify-diagnostics
// Operations after a terminator would never run, so a terminator inside a block is an error.

func.func @f() {
  // expected-error@+1 {{`func.return` ends a block, but stands before its end}}
  return
  return
}
// ----- output
