// RUN: optc --passes=dce --split-input-file --verify-diagnostics
// With `--split-input-file` each section is a program of its own: an error in one does not hide the next.

func.func @f() {
  return
}
// -----
func.func @g() {
  // expected-error@+1 {{%0}}
  return %0 : f32
}
// -----
func.func @f() {
  return
}
// ----- output
// module {
//   func.func @f() {
//     return
//   }
// }
// // -----
// // -----
// module {
//   func.func @f() {
//     return
//   }
// }
