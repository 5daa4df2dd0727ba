// RUN: optc --passes=inline
// A call is replaced by the body of the function, calls inside it included. Code generation compiles no
// calls, so nothing may be left.

func.func private @double(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.add %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

func.func private @fourfold(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @double(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = call @double(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @fourfold(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = nn.exp %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}
// ----- output
// module {
//   func.func private @double(%arg0: tensor<4xf32>) -> tensor<4xf32> {
//     %0 = nn.add %arg0, %arg0 : tensor<4xf32>
//     return %0 : tensor<4xf32>
//   }
//   func.func private @fourfold(%arg0: tensor<4xf32>) -> tensor<4xf32> {
//     %0 = nn.add %arg0, %arg0 : tensor<4xf32>
//     %1 = nn.add %0, %0 : tensor<4xf32>
//     return %1 : tensor<4xf32>
//   }
//   func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
//     %0 = nn.add %arg0, %arg0 : tensor<4xf32>
//     %1 = nn.add %0, %0 : tensor<4xf32>
//     %2 = nn.exp %1 : tensor<4xf32>
//     return %2 : tensor<4xf32>
//   }
// }
