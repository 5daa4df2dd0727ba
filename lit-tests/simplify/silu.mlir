// RUN: optc --passes='simplify{laws=silu}'
// The law that `x` times its sigmoid is SiLU, in either order of the factors.

func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = nn.sigmoid %x : tensor<2x3xf32>
  %1 = nn.mul %0, %x : tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> attributes {optc.stage = "simplify"} {
//     %0 = nn.silu %arg0 : tensor<2x3xf32>
//     return %0 : tensor<2x3xf32>
//   }
// }
