// RUN: optc --passes=simplify --print-locations
// The batch norm is folded into the weights and the bias, and the result keeps the locations of both
// operations.

func.func @main(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %w = nn.constant dense<0.5> : tensor<2x2x1x1xf32>
  %s = nn.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = nn.constant dense<[0.5, -1.0]> : tensor<2xf32>
  %m = nn.constant dense<[0.25, 0.75]> : tensor<2xf32>
  %v = nn.constant dense<[1.0, 4.0]> : tensor<2xf32>
  %0 = nn.conv2d %x, %w : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32> loc("Conv_0")
  %1 = nn.batch_norm %0, %s, %b, %m, %v : (tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32> loc("BatchNorm_1")
  %2 = nn.relu %1 : tensor<1x2x4x4xf32> loc("Relu_2")
  return %2 : tensor<1x2x4x4xf32>
}
// ----- output
// #loc2 = loc("a_batch_norm_goes_into_its_convolution.mlir":5:17)
// module {
//   func.func @main(%arg0: tensor<1x2x4x4xf32> loc("a_batch_norm_goes_into_its_convolution.mlir":5:17)) -> tensor<1x2x4x4xf32> attributes {optc.stage = "simplify"} {
//     %0 = nn.constant dense<[[[[0.499997497]], [[0.499997497]]], [[[0.499999404]], [[0.499999404]]]]> : tensor<2x2x1x1xf32> loc(#loc3)
//     %1 = nn.constant dense<[0.250001252, -1.74999905]> : tensor<2xf32> loc(#loc3)
//     %2 = nn.conv2d %arg0, %0, %1 : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32> loc(#loc8)
//     %3 = nn.relu %2 : tensor<1x2x4x4xf32> loc(#loc6)
//     return %3 : tensor<1x2x4x4xf32> loc(#loc7)
//   } loc(#loc1)
// } loc(#loc)
// #loc = loc(unknown)
// #loc1 = loc("a_batch_norm_goes_into_its_convolution.mlir":5:1)
// #loc3 = loc("a_batch_norm_goes_into_its_convolution.mlir":7:8)
// #loc4 = loc("Conv_0")
// #loc5 = loc("BatchNorm_1")
// #loc6 = loc("Relu_2")
// #loc7 = loc("a_batch_norm_goes_into_its_convolution.mlir":14:3)
// #loc8 = loc(fused[#loc4, #loc5])
