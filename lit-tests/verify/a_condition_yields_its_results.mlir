// RUN: optc --verify-diagnostics
// Both regions of an `scf.if` yield as many values as it has results, of their types, and a result needs both
// regions.

func.func @f(%c: i1, %x: f32, %i: i32) {
  %0:2 = scf.if %c -> (f32, f32) {
    // expected-error@+1 {{`scf.yield`: the number of yielded values is 2, found 1}}
    scf.yield %x : f32
  } else {
    // expected-error@+1 {{yielded value 1 must be `f32`, is `i32`}}
    scf.yield %x, %i : f32, i32
  }
  // expected-error@+1 {{a region of `scf.if` has no block}}
  %1 = "scf.if"(%c) ({
    scf.yield %x : f32
  }, {
  }) : (i1) -> f32
  // expected-error@+1 {{`scf.if`: the number of region arguments is 0, found 1}}
  "scf.if"(%c) ({
  ^bb0(%a: f32):
    scf.yield
  }, {
  }) : (i1) -> ()
  return
}
// ----- output
