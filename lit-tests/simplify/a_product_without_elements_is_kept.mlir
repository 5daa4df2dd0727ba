// RUN: optc --passes=simplify
// The cost of a contraction without elements must be finite, or the cheapest program cannot be chosen.

func.func @main(%x: tensor<1x4x3xf32>, %y: tensor<1x3x0xf32>) -> tensor<1x4x0xf32> {
  %0 = nn.matmul %x, %y : (tensor<1x4x3xf32>, tensor<1x3x0xf32>) -> tensor<1x4x0xf32>
  return %0 : tensor<1x4x0xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x4x3xf32>, %arg1: tensor<1x3x0xf32>) -> tensor<1x4x0xf32> attributes {optc.stage = "simplify"} {
//     %0 = nn.matmul %arg0, %arg1 : (tensor<1x4x3xf32>, tensor<1x3x0xf32>) -> tensor<1x4x0xf32>
//     return %0 : tensor<1x4x0xf32>
//   }
// }
