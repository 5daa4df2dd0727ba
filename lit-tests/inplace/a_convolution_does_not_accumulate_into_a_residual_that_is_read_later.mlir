// RUN: optc --passes=fuse,inplace
// A residual with a later reader must keep its bytes, so the sum gets a buffer of its own.

func.func @main(%arg0: tensor<1x4x4x8xf32>, %arg1: tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32> {
  %w = nn.constant dense<0.5> : tensor<8x8x1x1xf32>
  %0 = nn.exp %arg1 : tensor<1x4x4x8xf32>
  %1 = nn.conv2d %arg0, %w {layout = "NHWC"} : (tensor<1x4x4x8xf32>, tensor<8x8x1x1xf32>) -> tensor<1x4x4x8xf32>
  %2 = nn.add %1, %0 : tensor<1x4x4x8xf32>
  %3 = nn.mul %2, %0 : tensor<1x4x4x8xf32>
  return %3 : tensor<1x4x4x8xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x4x4x8xf32>, %arg1: tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32> attributes {optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.constant dense<5.000000e-01> : tensor<8x8x1x1xf32>
//     %1 = nn.exp %arg1 {mem.kernel = "pointwise"} : tensor<1x4x4x8xf32>
//     %2 = optc.group(%arg2 = %arg0, %arg3 = %0, %arg4 = %1) {mem.kernel = "conv2d"} : (tensor<1x4x4x8xf32>, tensor<8x8x1x1xf32>, tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32> {
//       %4 = nn.conv2d %arg2, %arg3 {layout = "NHWC"} : (tensor<1x4x4x8xf32>, tensor<8x8x1x1xf32>) -> tensor<1x4x4x8xf32>
//       %5 = nn.add %4, %arg4 : tensor<1x4x4x8xf32>
//       optc.yield %5 : tensor<1x4x4x8xf32>
//     }
//     %3 = nn.mul %2, %1 {mem.kernel = "pointwise", mem.tie = array<i64: 0>} : tensor<1x4x4x8xf32>
//     return %3 : tensor<1x4x4x8xf32>
//   }
// }
