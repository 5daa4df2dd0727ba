// RUN: optc --verify-diagnostics

// expected-error@+1 {{the block of `builtin.module` has no arguments}}
"builtin.module"() ({
^bb0(%x: i32):
}) : () -> ()
// ----- output
