// RUN: optc --verify-diagnostics

func.func @f(%a: i32) {
  func.func private @g() -> i32 {
    // expected-error@+1 {{`%a` is not defined}}
    return %a : i32
  }
  return
}
// ----- output
