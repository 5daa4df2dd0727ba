// RUN: optc --passes='simplify{laws=reshape-of-reshape}'
// The law that the second of two reshapes alone decides the shape.

func.func @main(%x: tensor<2x3x4xf32>) -> tensor<24xf32> {
  %0 = nn.reshape %x {shape = array<i64: 6, 4>} : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  %1 = nn.reshape %0 {shape = array<i64: 24>} : (tensor<6x4xf32>) -> tensor<24xf32>
  return %1 : tensor<24xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<2x3x4xf32>) -> tensor<24xf32> attributes {optc.stage = "simplify"} {
//     %0 = nn.reshape %arg0 {shape = array<i64: 24>} : (tensor<2x3x4xf32>) -> tensor<24xf32>
//     return %0 : tensor<24xf32>
//   }
// }
