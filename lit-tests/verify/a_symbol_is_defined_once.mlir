// RUN: optc --verify-diagnostics
// Two symbols of one name would make every reference ambiguous.

func.func private @f()
// expected-error@+1 {{`@f` is defined twice}}
func.func private @f()
// ----- output
