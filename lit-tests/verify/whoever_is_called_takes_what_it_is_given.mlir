// RUN: optc --verify-diagnostics
// A call matches the type of the function that it names, and an indirect call that of its operand.

func.func private @f(f32) -> f32
func.func @g(%x: f32, %i: i32) {
  // expected-error@+1 {{`@f` is a `(f32) -> f32`, called as a `(i32) -> f32`}}
  %0 = call @f(%i) : (i32) -> f32
  // expected-error@+1 {{`@f` is a `(f32) -> f32`, called as a `() -> ()`}}
  call @f() : () -> ()
  // expected-error@+1 {{`@f` is a `(f32) -> f32`, the value is a `() -> ()`}}
  %1 = constant @f : () -> ()
  // expected-error@+1 {{`func.call_indirect`: operand 0 is a `() -> ()`, called as a `(f32) -> ()`}}
  "func.call_indirect"(%1, %x) : (() -> (), f32) -> ()
  return
}
// ----- output
