// RUN: optc --passes=simplify
// A power is a scalar call for each element, so a cube is computed as products, which are vector instructions.
// An exponent a little off 3 stays a power.

func.func @main(%x: tensor<4x64xf32>) -> (tensor<4x64xf32>, tensor<4x64xf32>) {
  %three = nn.constant dense<3.0> : tensor<f32>
  %off = nn.constant dense<3.001> : tensor<f32>
  %0 = nn.pow %x, %three : (tensor<4x64xf32>, tensor<f32>) -> tensor<4x64xf32>
  %1 = nn.pow %x, %off : (tensor<4x64xf32>, tensor<f32>) -> tensor<4x64xf32>
  return %0, %1 : tensor<4x64xf32>, tensor<4x64xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<4x64xf32>) -> (tensor<4x64xf32>, tensor<4x64xf32>) attributes {optc.stage = "simplify"} {
//     %0 = nn.constant dense<3.001000e+00> : tensor<f32>
//     %1 = nn.square %arg0 : tensor<4x64xf32>
//     %2 = nn.mul %1, %arg0 : tensor<4x64xf32>
//     %3 = nn.pow %arg0, %0 : (tensor<4x64xf32>, tensor<f32>) -> tensor<4x64xf32>
//     return %2, %3 : tensor<4x64xf32>, tensor<4x64xf32>
//   }
// }
