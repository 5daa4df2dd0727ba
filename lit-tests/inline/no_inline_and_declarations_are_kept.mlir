// RUN: optc --passes=inline --remarks=inline
// A function that is marked `no_inline`, or has no body here, stays a call.

func.func private @outside(tensor<4xf32>) -> tensor<4xf32>

func.func private @kept(%x: tensor<4xf32>) -> tensor<4xf32> attributes {no_inline} {
  %0 = nn.exp %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @outside(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = call @kept(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
// ----- output
// remark: the call is kept: `no_inline` says so
//   --> no_inline_and_declarations_are_kept.mlir:13:8
//    |
// 13 |   %1 = call @kept(%0) : (tensor<4xf32>) -> tensor<4xf32>
//    |        ^^^^
// module {
//   func.func private @outside(tensor<4xf32>) -> tensor<4xf32>
//   func.func private @kept(%arg0: tensor<4xf32>) -> tensor<4xf32> attributes {no_inline} {
//     %0 = nn.exp %arg0 : tensor<4xf32>
//     return %0 : tensor<4xf32>
//   }
//   func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
//     %0 = call @outside(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
//     %1 = call @kept(%0) : (tensor<4xf32>) -> tensor<4xf32>
//     return %1 : tensor<4xf32>
//   }
// }
