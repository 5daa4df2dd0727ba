// RUN: optc --passes=symbol-dce --stop-after=symbol-dce:2
// A symbol is one change. `@a` and `@b` may go and `@c` may not: it calls `@b`, so this stays too.

func.func private @a() {
  return
}
func.func private @b() {
  return
}
func.func private @c() {
  func.call @b() : () -> ()
  return
}
func.func @main() {
  return
}
// ----- output
// module {
//   func.func private @b() {
//     return
//   }
//   func.func private @c() {
//     call @b() : () -> ()
//     return
//   }
//   func.func @main() {
//     return
//   }
// }
