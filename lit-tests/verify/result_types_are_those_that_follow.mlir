// RUN: optc --verify-diagnostics
// A result has the type that inference gives. Code generation relies on it.

func.func @f(%a: vector<4xi32>) {
  // expected-error@+1 {{result 0 of `arith.cmpi` must be `vector<4xi1>`, is `i1`}}
  %0 = "arith.cmpi"(%a, %a) <{predicate = 0 : i64}> : (vector<4xi32>, vector<4xi32>) -> i1
  return
}
// ----- output
