// RUN: optc --verify-diagnostics
// Extensions widen, truncations narrow, and bit casts keep the width.

func.func @f(%a: i32, %x: f32, %n: index) {
  // expected-error@+1 {{`arith.extsi`: 8 bits are not more than 32}}
  %0 = arith.extsi %a : i32 to i8
  // expected-error@+1 {{`arith.trunci`: 64 bits are not fewer than 32}}
  %1 = arith.trunci %a : i32 to i64
  // expected-error@+1 {{`arith.bitcast`: 64 bits can't be those of 32}}
  %2 = arith.bitcast %x : f32 to i64
  // expected-error@+1 {{`arith.index_cast`: one of the types is `index`, and the other is not}}
  %3 = arith.index_cast %a : i32 to i64
  return
}
// ----- output
