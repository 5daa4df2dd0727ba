// RUN: optc --passes='module(func(cse),symbol-dce)' --print-generic
// A pass for functions or modules also runs inside nested modules; code there must not be skipped silently.

module {
  module @inner {
    func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = nn.exp %x : tensor<4xf32>
      %1 = nn.exp %x : tensor<4xf32>
      %2 = nn.add %0, %1 : tensor<4xf32>
      return %2 : tensor<4xf32>
    }
    func.func private @unused() {
      return
    }
  }
}
// ----- output
// "builtin.module"() ({
//   "builtin.module"() <{sym_name = "inner"}> ({
//     "func.func"() <{function_type = (tensor<4xf32>) -> tensor<4xf32>, sym_name = "f"}> ({
//     ^bb0(%arg0: tensor<4xf32>):
//       %0 = "nn.exp"(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
//       %1 = "nn.add"(%0, %0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
//       "func.return"(%1) : (tensor<4xf32>) -> ()
//     }) : () -> ()
//   }) : () -> ()
// }) : () -> ()
