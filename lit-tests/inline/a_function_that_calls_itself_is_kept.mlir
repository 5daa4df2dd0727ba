// RUN: optc --passes=inline --remarks=inline
// A recursive function, also one that is recursive through another, is not inlined. The pass would not
// terminate.

func.func private @ping(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @pong(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

func.func private @pong(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @ping(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

func.func private @again(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @again(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// ----- output
// remark: the call is kept: the function calls itself, or is called by what it calls
//   --> a_function_that_calls_itself_is_kept.mlir:11:8
//    |
// 11 |   %0 = call @ping(%x) : (tensor<4xf32>) -> tensor<4xf32>
//    |        ^^^^
// remark: the call is kept: the function calls itself, or is called by what it calls
//  --> a_function_that_calls_itself_is_kept.mlir:6:8
//   |
// 6 |   %0 = call @pong(%x) : (tensor<4xf32>) -> tensor<4xf32>
//   |        ^^^^
// remark: the call is kept: the function calls itself, or is called by what it calls
//   --> a_function_that_calls_itself_is_kept.mlir:16:8
//    |
// 16 |   %0 = call @again(%x) : (tensor<4xf32>) -> tensor<4xf32>
//    |        ^^^^
// module {
//   func.func private @ping(%arg0: tensor<4xf32>) -> tensor<4xf32> {
//     %0 = call @pong(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
//     return %0 : tensor<4xf32>
//   }
//   func.func private @pong(%arg0: tensor<4xf32>) -> tensor<4xf32> {
//     %0 = call @ping(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
//     return %0 : tensor<4xf32>
//   }
//   func.func private @again(%arg0: tensor<4xf32>) -> tensor<4xf32> {
//     %0 = call @again(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
//     return %0 : tensor<4xf32>
//   }
// }
