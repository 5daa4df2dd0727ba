// RUN: optc --passes=dce --print-generic
// A condition without readers is removed only if its regions have no side effects: a call inside keeps it.

func.func private @f(%x: f32) -> f32 {
  return %x : f32
}

func.func @main(%c: i1, %x: tensor<4xf32>, %y: f32) -> tensor<4xf32> {
  %0 = nn.exp %x : tensor<4xf32>
  %1 = "scf.if"(%c) ({
    %3 = nn.exp %0 : tensor<4xf32>
    "scf.yield"(%3) : (tensor<4xf32>) -> ()
  }, {
    "scf.yield"(%x) : (tensor<4xf32>) -> ()
  }) : (i1) -> tensor<4xf32>
  %2 = "scf.if"(%c) ({
    %3 = call @f(%y) : (f32) -> f32
    %4 = nn.exp %x : tensor<4xf32>
    "scf.yield"(%3) : (f32) -> ()
  }, {
    "scf.yield"(%y) : (f32) -> ()
  }) : (i1) -> f32
  return %x : tensor<4xf32>
}
// ----- output
// "builtin.module"() ({
//   "func.func"() <{function_type = (f32) -> f32, sym_name = "f", sym_visibility = "private"}> ({
//   ^bb0(%arg3: f32):
//     "func.return"(%arg3) : (f32) -> ()
//   }) : () -> ()
//   "func.func"() <{function_type = (i1, tensor<4xf32>, f32) -> tensor<4xf32>, sym_name = "main"}> ({
//   ^bb0(%arg0: i1, %arg1: tensor<4xf32>, %arg2: f32):
//     %0 = "scf.if"(%arg0) ({
//       %1 = "func.call"(%arg2) <{callee = @f}> : (f32) -> f32
//       "scf.yield"(%1) : (f32) -> ()
//     }, {
//       "scf.yield"(%arg2) : (f32) -> ()
//     }) : (i1) -> f32
//     "func.return"(%arg1) : (tensor<4xf32>) -> ()
//   }) : () -> ()
// }) : () -> ()
