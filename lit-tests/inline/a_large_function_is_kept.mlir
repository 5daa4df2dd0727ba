// RUN: optc --passes='inline{max-ops=2}' --remarks=inline
// The option `max-ops` bounds what is inlined, so code does not grow without limit. The remark names the
// reason.

func.func private @small(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.exp %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

func.func private @large(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.exp %x : tensor<4xf32>
  %1 = nn.exp %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @small(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = call @large(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
// ----- output
// remark: the call is kept: the function holds too many operations
//   --> a_large_function_is_kept.mlir:18:8
//    |
// 18 |   %1 = call @large(%0) : (tensor<4xf32>) -> tensor<4xf32>
//    |        ^^^^
// module {
//   func.func private @small(%arg0: tensor<4xf32>) -> tensor<4xf32> {
//     %0 = nn.exp %arg0 : tensor<4xf32>
//     return %0 : tensor<4xf32>
//   }
//   func.func private @large(%arg0: tensor<4xf32>) -> tensor<4xf32> {
//     %0 = nn.exp %arg0 : tensor<4xf32>
//     %1 = nn.exp %0 : tensor<4xf32>
//     return %1 : tensor<4xf32>
//   }
//   func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
//     %0 = nn.exp %arg0 : tensor<4xf32>
//     %1 = call @large(%0) : (tensor<4xf32>) -> tensor<4xf32>
//     return %1 : tensor<4xf32>
//   }
// }
