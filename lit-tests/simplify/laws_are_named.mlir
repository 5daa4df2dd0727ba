// RUN: optc --passes=simplify{laws=silo+add-zero+ad-zero}

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
