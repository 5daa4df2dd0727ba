// RUN: optc --passes='simplify{nodes=many}'
// A wrong option value is an error that names the expected type and range, so the user need not look it up.

func.func @f() {
  return
}
// ----- output
// error: option `nodes` of `simplify` takes an integer from 0 to 100000000, found `many`
//  --> --passes:1:16
//   |
// 1 | simplify{nodes=many}
//   |                ^^^^
