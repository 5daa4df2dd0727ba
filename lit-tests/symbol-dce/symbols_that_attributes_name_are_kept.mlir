// RUN: optc --passes=symbol-dce --allow-unregistered --print-generic
// A symbol that an attribute names is used, also inside an array or an attribute of another dialect.

func.func private @in_an_array() {
  return
}

func.func private @in_a_foreign_attribute() {
  return
}

func.func private @unused() {
  return
}

func.func @main() attributes {test.handlers = [{name = @in_an_array}], test.other = #test.refers<@in_a_foreign_attribute, 3>} {
  return
}
// ----- output
// "builtin.module"() ({
//   "func.func"() <{function_type = () -> (), sym_name = "in_an_array", sym_visibility = "private"}> ({
//     "func.return"() : () -> ()
//   }) : () -> ()
//   "func.func"() <{function_type = () -> (), sym_name = "in_a_foreign_attribute", sym_visibility = "private"}> ({
//     "func.return"() : () -> ()
//   }) : () -> ()
//   "func.func"() <{function_type = () -> (), sym_name = "main"}> ({
//     "func.return"() : () -> ()
//   }) {test.handlers = [{name = @in_an_array}], test.other = #test.refers<@in_a_foreign_attribute, 3>} : () -> ()
// }) : () -> ()
