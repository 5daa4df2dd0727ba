// RUN: optc --verify-diagnostics
// A branch passes each block argument a value, of the argument's type.

func.func @f(%c: i1, %x: f32, %i: i32) {
  // expected-error@+1 {{block argument 0 must be `f32`, is `i32`}}
  cf.cond_br %c, ^bb1(%x : f32), ^bb2(%i : i32)
^bb1(%a: f32):
  // expected-error@+1 {{`cf.br`: the number of block arguments is 1, found 0}}
  cf.br ^bb2
^bb2(%b: f32):
  return
}
// ----- output
