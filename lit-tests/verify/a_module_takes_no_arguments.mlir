// RUN: optc --verify-diagnostics
// A module is no function: nothing could pass values to its block.

// expected-error@+1 {{the block of `builtin.module` has no arguments}}
"builtin.module"() ({
^bb0(%x: i32):
}) : () -> ()
// ----- output
