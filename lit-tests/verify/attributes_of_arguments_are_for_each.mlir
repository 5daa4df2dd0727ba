// RUN: optc --verify-diagnostics
// `arg_attrs` and `res_attrs` have one dictionary for each argument and result.

// expected-error@+1 {{`arg_attrs` of `func.func` has a dictionary for each argument: 1}}
func.func private @f(f32) attributes {arg_attrs = [{}, {}]}

// expected-error@+1 {{`res_attrs` of `func.func` has a dictionary for each result: 1}}
func.func private @g() -> f32 attributes {res_attrs = [1 : i32]}
// ----- output
