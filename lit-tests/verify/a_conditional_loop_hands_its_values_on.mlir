// RUN: optc --verify-diagnostics
// The two regions of an `scf.while` pass values to each other, and their types must match on every way round.

func.func @f(%c: i1, %x: f32, %i: i32) {
  // expected-error@+1 {{region argument 0 must be `i32`, is `f32`}}
  %0 = scf.while (%y = %x) : (f32) -> i32 {
    // expected-error@+1 {{yielded value 0 must be `i32`, is `f32`}}
    scf.condition(%c) %y : f32
  } do {
  ^bb0(%z: f32):
    // expected-error@+1 {{yielded value 0 must be `f32`, is `i32`}}
    scf.yield %i : i32
  }
  scf.while : () -> () {
    // expected-error@+1 {{a region of `scf.while` ends with a condition, found `scf.yield`}}
    scf.yield
  } do {
    // expected-error@+1 {{a region of `scf.while` ends with a yield, found `scf.condition`}}
    scf.condition(%c)
  }
  return
}
// ----- output
