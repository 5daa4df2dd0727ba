// RUN: optc --passes='simplify{laws=clip-of-clip}'
// The law that two clips are one with the narrower bounds.

func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = nn.clip %x {lo = -1.0 : f32, hi = 0.5 : f32} : tensor<2x3xf32>
  %1 = nn.clip %0 {lo = -0.5 : f32, hi = 1.0 : f32} : tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> attributes {optc.stage = "simplify"} {
//     %0 = nn.clip %arg0 {hi = 5.000000e-01 : f32, lo = -5.000000e-01 : f32} : tensor<2x3xf32>
//     return %0 : tensor<2x3xf32>
//   }
// }
