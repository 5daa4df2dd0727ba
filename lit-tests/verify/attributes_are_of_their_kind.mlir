// RUN: optc --verify-diagnostics

func.func @f(%a: i32, %c: i1) {
  // expected-error@+1 {{attribute `predicate` of `arith.cmpi` is an `i64` that stands for one of eq, ne}}
  %0 = "arith.cmpi"(%a, %a) <{predicate = 10 : i64}> : (i32, i32) -> i1
  // expected-error@+1 {{attribute `overflowFlags` of `arith.addi` is `#arith.overflow<...>`}}
  %1 = "arith.addi"(%a, %a) <{overflowFlags = #arith.overflow<nww>}> : (i32, i32) -> i32
  // expected-error@+1 {{attribute `msg` of `cf.assert` is a string}}
  "cf.assert"(%c) <{msg = 1 : i32}> : (i1) -> ()
  return
}
// ----- output
