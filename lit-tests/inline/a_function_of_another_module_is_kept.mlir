// RUN: optc --passes=inline --remarks=inline --print-generic
// A symbol is resolved in its own module: inside `@tools`, `@helper` is another function than outside.
// Inlining across the border could call the wrong one.

module {
  func.func private @helper(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = nn.neg %x : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  module @tools {
    func.func private @helper(%x: tensor<4xf32>) -> tensor<4xf32> attributes {no_inline} {
      %0 = nn.exp %x : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = call @helper(%x) : (tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
  }
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = call @tools::@f(%x) : (tensor<4xf32>) -> tensor<4xf32>
    %1 = call @helper(%0) : (tensor<4xf32>) -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }
}
// ----- output
// remark: the call is kept: `no_inline` says so
//   --> a_function_of_another_module_is_kept.mlir:16:12
//    |
// 16 |       %0 = call @helper(%x) : (tensor<4xf32>) -> tensor<4xf32>
//    |            ^^^^
// remark: the call is kept: the function stands in another module, where symbols may name something else
//   --> a_function_of_another_module_is_kept.mlir:21:10
//    |
// 21 |     %0 = call @tools::@f(%x) : (tensor<4xf32>) -> tensor<4xf32>
//    |          ^^^^
// "builtin.module"() ({
//   "func.func"() <{function_type = (tensor<4xf32>) -> tensor<4xf32>, sym_name = "helper", sym_visibility = "private"}> ({
//   ^bb0(%arg3: tensor<4xf32>):
//     %4 = "nn.neg"(%arg3) : (tensor<4xf32>) -> tensor<4xf32>
//     "func.return"(%4) : (tensor<4xf32>) -> ()
//   }) : () -> ()
//   "builtin.module"() <{sym_name = "tools"}> ({
//     "func.func"() <{function_type = (tensor<4xf32>) -> tensor<4xf32>, no_inline, sym_name = "helper", sym_visibility = "private"}> ({
//     ^bb0(%arg2: tensor<4xf32>):
//       %3 = "nn.exp"(%arg2) : (tensor<4xf32>) -> tensor<4xf32>
//       "func.return"(%3) : (tensor<4xf32>) -> ()
//     }) : () -> ()
//     "func.func"() <{function_type = (tensor<4xf32>) -> tensor<4xf32>, sym_name = "f"}> ({
//     ^bb0(%arg1: tensor<4xf32>):
//       %2 = "func.call"(%arg1) <{callee = @helper}> : (tensor<4xf32>) -> tensor<4xf32>
//       "func.return"(%2) : (tensor<4xf32>) -> ()
//     }) : () -> ()
//   }) : () -> ()
//   "func.func"() <{function_type = (tensor<4xf32>) -> tensor<4xf32>, sym_name = "main"}> ({
//   ^bb0(%arg0: tensor<4xf32>):
//     %0 = "func.call"(%arg0) <{callee = @tools::@f}> : (tensor<4xf32>) -> tensor<4xf32>
//     %1 = "nn.neg"(%0) : (tensor<4xf32>) -> tensor<4xf32>
//     "func.return"(%1) : (tensor<4xf32>) -> ()
//   }) : () -> ()
// }) : () -> ()
