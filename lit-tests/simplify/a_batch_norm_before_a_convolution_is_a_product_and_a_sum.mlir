// RUN: optc --passes=simplify
// A batch norm that a relu separates from its convolution cannot be folded into weights. It becomes one
// product and one sum, with constant factors.

func.func @main(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %w = nn.constant dense<0.5> : tensor<2x2x1x1xf32>
  %s = nn.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = nn.constant dense<[0.5, -1.0]> : tensor<2xf32>
  %m = nn.constant dense<[0.25, 0.75]> : tensor<2xf32>
  %v = nn.constant dense<[1.0, 4.0]> : tensor<2xf32>
  %0 = nn.batch_norm %x, %s, %b, %m, %v : (tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
  %1 = nn.relu %0 : tensor<1x2x4x4xf32>
  %2 = nn.conv2d %1, %w : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  return %2 : tensor<1x2x4x4xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> attributes {optc.stage = "simplify"} {
//     %0 = nn.constant dense<5.000000e-01> : tensor<2x2x1x1xf32>
//     %1 = nn.constant dense<[[[0.999994993]], [[0.999998807]]]> : tensor<2x1x1xf32>
//     %2 = nn.mul %arg0, %1 : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
//     %3 = nn.constant dense<[[[0.250001252]], [[-1.74999905]]]> : tensor<2x1x1xf32>
//     %4 = nn.add %2, %3 : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
//     %5 = nn.relu %4 : tensor<1x2x4x4xf32>
//     %6 = nn.conv2d %5, %0 : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
//     return %6 : tensor<1x2x4x4xf32>
//   }
// }
