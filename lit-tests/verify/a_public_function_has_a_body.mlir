// RUN: optc --verify-diagnostics

// expected-error@+1 {{a `func.func` without a body is not public}}
func.func @f(f32)

func.func private @g(f32)
// ----- output
