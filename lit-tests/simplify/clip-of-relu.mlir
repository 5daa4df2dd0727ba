// RUN: optc --passes='simplify{laws=clip-of-relu}'
// The law that a clip after a relu is one clip whose lower bound is at least 0.

func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = nn.relu %x : tensor<2x3xf32>
  %1 = nn.clip %0 {lo = -1.0 : f32, hi = 6.0 : f32} : tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> attributes {optc.stage = "simplify"} {
//     %0 = nn.clip %arg0 {hi = 6.000000e+00 : f32, lo = 0.000000e+00 : f32} : tensor<2x3xf32>
//     return %0 : tensor<2x3xf32>
//   }
// }
