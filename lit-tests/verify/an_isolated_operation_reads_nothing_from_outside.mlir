// RUN: optc --verify-diagnostics
// A function is isolated from above, so functions can be rewritten in parallel.

func.func @f(%a: i32) {
  func.func private @g() -> i32 {
    // expected-error@+1 {{`%a` is not defined}}
    return %a : i32
  }
  return
}
// ----- output
