// RUN: optc --passes=symbol-dce --allow-unregistered --print-generic
// Each module has its own symbols, so `@used` in one says nothing about `@used` in another; a private module
// that nobody names goes with its content.

module {
  module @tools attributes {sym_visibility = "private"} {
    func.func private @used() {
      return
    }
    func.func private @unused() {
      return
    }
  }
  module @forgotten attributes {sym_visibility = "private"} {
    func.func @public_but_inside() {
      return
    }
  }
  func.func @main() {
    "test.refers"() {to = @tools::@used} : () -> ()
    return
  }
}
// ----- output
// "builtin.module"() ({
//   "builtin.module"() <{sym_name = "tools", sym_visibility = "private"}> ({
//     "func.func"() <{function_type = () -> (), sym_name = "used", sym_visibility = "private"}> ({
//       "func.return"() : () -> ()
//     }) : () -> ()
//   }) : () -> ()
//   "func.func"() <{function_type = () -> (), sym_name = "main"}> ({
//     "test.refers"() {to = @tools::@used} : () -> ()
//     "func.return"() : () -> ()
//   }) : () -> ()
// }) : () -> ()
