// RUN: optc --passes=simplify{laws=silo+add-zero+ad-zero}
// The option `laws` takes names only of laws that exist. A misspelt name must not switch a law off silently.

func.func @f() {
  return
}
// ----- output
// error: `simplify` has no law `silo`
//  |
//  = help: did you mean `silu`?
// error: `simplify` has no law `ad-zero`
//  |
//  = help: did you mean `add-zero`?
