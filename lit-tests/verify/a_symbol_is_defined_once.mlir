// RUN: optc --verify-diagnostics

func.func private @f()
// expected-error@+1 {{`@f` is defined twice}}
func.func private @f()
// ----- output
