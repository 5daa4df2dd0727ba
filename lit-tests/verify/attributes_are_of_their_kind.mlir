// RUN: optc --verify-diagnostics
// Attributes are checked against the operation's row: enums, flags, strings, types. Passes then read them
// without checks.

func.func @f(%a: i32, %c: i1) {
  // expected-error@+1 {{attribute `predicate` of `arith.cmpi` is an `i64` that stands for one of eq, ne}}
  %0 = "arith.cmpi"(%a, %a) <{predicate = 10 : i64}> : (i32, i32) -> i1
  // expected-error@+1 {{attribute `overflowFlags` of `arith.addi` is `#arith.overflow<...>`}}
  %1 = "arith.addi"(%a, %a) <{overflowFlags = #arith.overflow<nww>}> : (i32, i32) -> i32
  // expected-error@+1 {{attribute `msg` of `cf.assert` is a string}}
  "cf.assert"(%c) <{msg = 1 : i32}> : (i1) -> ()
  return
}

func.func @g(%t: tensor<4xf32>) {
  // expected-error@+1 {{attribute `axis` of `nn.softmax` is an integer (an axis), found `"0"`}}
  %0 = "nn.softmax"(%t) <{axis = "0"}> : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error@+1 {{attribute `axes` of `nn.reduce_sum` is an `array<i64: ...>` of axes, found `[0]`}}
  %1 = "nn.reduce_sum"(%t) <{axes = [0]}> : (tensor<4xf32>) -> tensor<f32>
  // expected-error@+1 {{attribute `starts` of `nn.slice` is an `array<i64: ...>` with a number for each axis, found `1 : i32`}}
  %2 = "nn.slice"(%t) <{starts = 1 : i32, sizes = array<i64: 2>}> : (tensor<4xf32>) -> tensor<2xf32>
  // expected-error@+1 {{attribute `to` of `nn.cast` is a type, found `1 : i32`}}
  %3 = "nn.cast"(%t) <{to = 1 : i32}> : (tensor<4xf32>) -> tensor<4xi32>
  // expected-error@+1 {{attribute `callee` of `func.call` is a symbol, found `"f"`}}
  "func.call"() <{callee = "f"}> : () -> ()
  // expected-error@+1 {{attribute `shape` of `nn.reshape` is an `array<i64: ...>` or `#optc.dims<...>` of sizes, found `"4"`}}
  %5 = "nn.reshape"(%t) <{shape = "4"}> : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error@+1 {{attribute `value` of `nn.constant` is the elements of a tensor, found `1 : i32`}} expected-error@+1 {{the value of the constant}}
  %4 = "nn.constant"() <{value = 1 : i32}> : () -> tensor<4xf32>
  return
}

// expected-error@+1 {{attribute `function_type` of `func.func` is a function type, found `1 : i32`}} expected-error@+1 {{attribute `arg_attrs` of `func.func` is an array, found `1 : i32`}}
"func.func"() <{function_type = 1 : i32, sym_name = "h", sym_visibility = "private", arg_attrs = 1 : i32}> ({
}) : () -> ()
// ----- output
