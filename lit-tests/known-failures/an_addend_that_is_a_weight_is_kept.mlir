// RUN: optc --passes=fuse,inplace
// Accumulating into a weight gives the right result once and a wrong one at every later run.

func.func @main(%arg0: tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32> {
  %w = nn.constant dense<0.5> : tensor<8x8x1x1xf32>
  %r = nn.constant dense<1.0> : tensor<1x4x4x8xf32>
  %0 = nn.conv2d %arg0, %w {layout = "NHWC"} : (tensor<1x4x4x8xf32>, tensor<8x8x1x1xf32>) -> tensor<1x4x4x8xf32>
  %1 = nn.add %0, %r : tensor<1x4x4x8xf32>
  return %1 : tensor<1x4x4x8xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32> attributes {optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.constant dense<5.000000e-01> : tensor<8x8x1x1xf32>
//     %1 = nn.constant dense<1.000000e+00> : tensor<1x4x4x8xf32>
//     %2 = optc.group(%arg1 = %arg0, %arg2 = %0, %arg3 = %1) {mem.kernel = "conv2d"} : (tensor<1x4x4x8xf32>, tensor<8x8x1x1xf32>, tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32> {
//       %3 = nn.conv2d %arg1, %arg2 {layout = "NHWC"} : (tensor<1x4x4x8xf32>, tensor<8x8x1x1xf32>) -> tensor<1x4x4x8xf32>
//       %4 = nn.add %3, %arg3 : tensor<1x4x4x8xf32>
//       optc.yield %4 : tensor<1x4x4x8xf32>
//     }
//     return %2 : tensor<1x4x4x8xf32>
//   }
// }
