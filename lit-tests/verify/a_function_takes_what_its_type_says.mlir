// RUN: optc --verify-diagnostics
// The arguments of the first block match the function's type. Callers rely on the type alone.

// expected-error@+1 {{the function's type and its arguments (i32) differ}}
"func.func"() <{function_type = (f32) -> (), sym_name = "f"}> ({
^bb0(%x: i32):
  "func.return"() : () -> ()
}) : () -> ()
// ----- output
