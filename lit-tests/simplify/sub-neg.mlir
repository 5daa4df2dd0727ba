// RUN: optc --passes='simplify{laws=sub-neg}'
// The law `x - (-y) = x + y`, which saves an operation.

func.func @main(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = nn.neg %y : tensor<2x3xf32>
  %1 = nn.sub %x, %0 : tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xf32>) -> tensor<2x3xf32> attributes {optc.stage = "simplify"} {
//     %0 = nn.add %arg0, %arg1 : tensor<2x3xf32>
//     return %0 : tensor<2x3xf32>
//   }
// }
