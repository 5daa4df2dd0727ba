// RUN: optc --verify-diagnostics
// A call or a function constant names a function, not another symbol.

module @m {
}
func.func @g() {
  // expected-error@+1 {{`@m` is no function}}
  call @m() : () -> ()
  // expected-error@+1 {{`@m` is no function}}
  %0 = constant @m : () -> ()
  return
}
// ----- output
