// RUN: optc --verify-diagnostics
// A return matches the function's result types, also from inside a region, where no return may stand.

func.func @f(%x: f32, %i: i32) -> f32 {
  // expected-error@+1 {{returned value 0 must be `f32`, is `i32`}}
  return %i : i32
}

func.func @g(%c: i1) -> f32 {
  // expected-error@+1 {{`func.return`: the number of returned values is 1, found 0}}
  return
}

func.func @h(%c: i1) {
  scf.if %c {
    // expected-error@+1 {{`func.return` stands directly in a function}} expected-error@+1 {{a region of `scf.if` ends with a yield, found `func.return`}}
    func.return
  }
  return
}
// ----- output
