// RUN: optc --passes=symbol-dce --allow-unregistered --print-generic
// A symbol that is used only from a module inside a region is still used. Removing it would leave a dangling
// reference.

module {
  "test.holder"() ({
    module {
      func.func private @forgotten() {
        return
      }
      func.func @kept() {
        call @used() : () -> ()
        return
      }
    }
  }) : () -> ()
  func.func private @used() {
    return
  }
  module @last {
    func.func private @forgotten_too() {
      return
    }
  }
}
// ----- output
// "builtin.module"() ({
//   "test.holder"() ({
//     "builtin.module"() ({
//       "func.func"() <{function_type = () -> (), sym_name = "kept"}> ({
//         "func.call"() <{callee = @used}> : () -> ()
//         "func.return"() : () -> ()
//       }) : () -> ()
//     }) : () -> ()
//   }) : () -> ()
//   "func.func"() <{function_type = () -> (), sym_name = "used", sym_visibility = "private"}> ({
//     "func.return"() : () -> ()
//   }) : () -> ()
//   "builtin.module"() <{sym_name = "last"}> ({
//   ^bb0:
//   }) : () -> ()
// }) : () -> ()
