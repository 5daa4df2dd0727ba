// RUN: optc --verify-diagnostics --allow-unregistered
// A value defined in a region is visible there and in nested regions, not in a sibling region or outside.

func.func @f(%c: i1, %a: i32) -> i32 {
  "scf.if"(%c) ({
    %0 = "arith.addi"(%a, %a) : (i32, i32) -> i32
    "test.keep"(%0) ({
      "test.inner"(%0) : (i32) -> ()
    }) : (i32) -> ()
    "scf.yield"() : () -> ()
  }, {
    // expected-error@+1 {{`%0` is not defined}}
    "test.use"(%0) : (i32) -> ()
    "scf.yield"() : () -> ()
  }) : (i1) -> ()
  return %a : i32
}
// ----- output
