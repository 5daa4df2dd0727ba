// RUN: optc --passes=simplify --verify-diagnostics
// A pass refuses a function that is past its stage. Simplifying planned code would leave its places wrong.

// expected-error@+1 {{pass `simplify` can't run on `@f`, which is at stage `fuse`}}
func.func @f() attributes {optc.stage = "fuse"} {
  return
}
// ----- output
