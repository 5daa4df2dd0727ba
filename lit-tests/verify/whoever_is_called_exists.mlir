// RUN: optc --verify-diagnostics
// A call or a function constant names a symbol that exists.

func.func private @f(f32)
func.func @g(%x: f32) {
  // expected-error@+1 {{nothing is called `@h`}}
  call @h(%x) : (f32) -> ()
  // expected-error@+1 {{nothing is called `@h`}}
  %0 = constant @h : () -> ()
  return
}
// ----- output
