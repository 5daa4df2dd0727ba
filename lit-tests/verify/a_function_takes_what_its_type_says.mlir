// RUN: optc --verify-diagnostics

// expected-error@+1 {{the function's type and its arguments (i32) differ}}
"func.func"() <{function_type = (f32) -> (), sym_name = "f"}> ({
^bb0(%x: i32):
  "func.return"() : () -> ()
}) : () -> ()
// ----- output
