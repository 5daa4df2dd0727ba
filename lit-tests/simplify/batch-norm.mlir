// RUN: optc --passes='simplify{laws=batch-norm}'
// The law that a batch norm with constant statistics is one product and one sum.

func.func @main(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %s = nn.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = nn.constant dense<[0.5, -1.0]> : tensor<2xf32>
  %m = nn.constant dense<[0.25, 0.75]> : tensor<2xf32>
  %v = nn.constant dense<[1.0, 4.0]> : tensor<2xf32>
  %0 = nn.batch_norm %x, %s, %b, %m, %v {epsilon = 0.00001 : f32} : (tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
  return %0 : tensor<1x2x4x4xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> attributes {optc.stage = "simplify"} {
//     %0 = nn.constant dense<[[[0.999994993]], [[0.999998807]]]> : tensor<2x1x1xf32>
//     %1 = nn.mul %arg0, %0 : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
//     %2 = nn.constant dense<[[[0.250001252]], [[-1.74999905]]]> : tensor<2x1x1xf32>
//     %3 = nn.add %1, %2 : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
//     return %3 : tensor<1x2x4x4xf32>
//   }
// }
