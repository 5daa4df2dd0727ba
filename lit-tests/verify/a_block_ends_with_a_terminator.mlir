// RUN: optc --verify-diagnostics
// A block without a terminator has no successor, so control flow after it would be undefined.

func.func @f(%a: i32) {
  // expected-error@+1 {{a block of `func.func` ends with a terminator, found `arith.addi`}}
  %0 = arith.addi %a, %a : i32
}

// expected-error@+1 {{a block of `func.func` ends with a terminator, found nothing}}
func.func @g(%a: i32) {
}
// ----- output
