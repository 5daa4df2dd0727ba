// RUN: optc --passes='simplify{laws=clip-without-top}'
// The law that a clip at 0 without an upper bound is a relu.

func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = nn.clip %x {lo = 0.0 : f32} : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> attributes {optc.stage = "simplify"} {
//     %0 = nn.relu %arg0 : tensor<2x3xf32>
//     return %0 : tensor<2x3xf32>
//   }
// }
