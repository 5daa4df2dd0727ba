// RUN: optc --verify-diagnostics
// The bounds of an `scf.for` have one type, its counter has that type, and each carried value keeps its type.

func.func @f(%n: index, %m: i32, %x: f32, %i: i32) {
  // expected-error@+1 {{`scf.for`: lower bound, upper bound and step have different types}}
  "scf.for"(%n, %m, %n) ({
  ^bb0(%k: index):
    scf.yield
  }) : (index, i32, index) -> ()
  // expected-error@+1 {{region argument 0 must be `index`, is `i32`}}
  "scf.for"(%n, %n, %n) ({
  ^bb0(%k: i32):
    scf.yield
  }) : (index, index, index) -> ()
  // expected-error@+1 {{initial value 0 must be `f32`, is `i32`}}
  %0 = "scf.for"(%n, %n, %n, %i) ({
  ^bb0(%k: index, %y: f32):
    scf.yield %y : f32
  }) : (index, index, index, i32) -> f32
  %1 = scf.for %k = %n to %n step %n iter_args(%y = %x) -> (f32) {
    // expected-error@+1 {{yielded value 0 must be `f32`, is `i32`}}
    scf.yield %i : i32
  }
  return
}
// ----- output
