// RUN: my-opt --verify-diagnostics

func.func @f() {
  %0 = my.start : !my.clock
  // expected-error@+1 {{has no parameters}}
  %1 = my.start : !my.clock<4>
  return
}
// ----- output
