// RUN: optc --passes=simplify --verify-diagnostics

// expected-error@+1 {{pass `simplify` can't run on `@f`, which is at stage `fuse`}}
func.func @f() attributes {optc.stage = "fuse"} {
  return
}
// ----- output
