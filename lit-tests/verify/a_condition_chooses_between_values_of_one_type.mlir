// RUN: optc --verify-diagnostics
// `arith.select` needs two values of one type and a condition for all or for each element.

func.func @f(%c: i1, %v: vector<4xi1>, %a: i32, %b: i64) {
  // expected-error@+1 {{`arith.select`: the two values have different types}}
  %0 = "arith.select"(%c, %a, %b) : (i1, i32, i64) -> i32
  // expected-error@+1 {{`arith.select`: the condition is neither an `i1` nor one for each element}}
  %1 = arith.select %v, %a, %a : vector<4xi1>, i32
  return
}
// ----- output
