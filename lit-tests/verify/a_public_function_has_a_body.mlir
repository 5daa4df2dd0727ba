// RUN: optc --verify-diagnostics
// A declaration is private, as in MLIR: a public one would promise a body that does not exist.

// expected-error@+1 {{a `func.func` without a body is not public}}
func.func @f(f32)

func.func private @g(f32)
// ----- output
