// RUN: optc --passes=fuse,precision
// The mean of a normalization is not rounded: that would move all elements. So the image before it stays f32,
// too. The mean that a product reads is rounded, and its image stored as bf16.

func.func @normalized(%x: tensor<1x8x8x64xf32>) -> tensor<1x8x8x64xf32> {
  %0 = nn.tanh %x : tensor<1x8x8x64xf32>
  %1 = nn.reduce_mean %0 {axes = array<i64: 1, 2>} : (tensor<1x8x8x64xf32>) -> tensor<1x64xf32>
  %2 = nn.reshape %1 {shape = array<i64: 1, 1, 1, 64>} : (tensor<1x64xf32>) -> tensor<1x1x1x64xf32>
  %3 = nn.sub %0, %2 : (tensor<1x8x8x64xf32>, tensor<1x1x1x64xf32>) -> tensor<1x8x8x64xf32>
  return %3 : tensor<1x8x8x64xf32>
}

func.func @multiplied(%x: tensor<1x8x8x64xf32>) -> tensor<1x10xf32> {
  %w = nn.constant dense<0.1> : tensor<64x10xf32>
  %0 = nn.tanh %x : tensor<1x8x8x64xf32>
  %1 = nn.reduce_mean %0 {axes = array<i64: 1, 2>} : (tensor<1x8x8x64xf32>) -> tensor<1x64xf32>
  %2 = nn.matmul %1, %w : (tensor<1x64xf32>, tensor<64x10xf32>) -> tensor<1x10xf32>
  return %2 : tensor<1x10xf32>
}
// ----- output
// module {
//   func.func @normalized(%arg0: tensor<1x8x8x64xf32>) -> tensor<1x8x8x64xf32> attributes {optc.stage = "fuse"} {
//     %0 = nn.tanh %arg0 : tensor<1x8x8x64xf32>
//     %1 = nn.reduce_mean %0 {axes = array<i64: 1, 2>} : (tensor<1x8x8x64xf32>) -> tensor<1x64xf32>
//     %2 = nn.reshape %1 {shape = array<i64: 1, 1, 1, 64>} : (tensor<1x64xf32>) -> tensor<1x1x1x64xf32>
//     %3 = nn.sub %0, %2 : (tensor<1x8x8x64xf32>, tensor<1x1x1x64xf32>) -> tensor<1x8x8x64xf32>
//     return %3 : tensor<1x8x8x64xf32>
//   }
//   func.func @multiplied(%arg0: tensor<1x8x8x64xf32>) -> tensor<1x10xf32> attributes {optc.stage = "fuse"} {
//     %0 = nn.constant dense<1.000000e-01> : tensor<64x10xf32>
//     %1 = optc.group(%arg1 = %arg0) : (tensor<1x8x8x64xf32>) -> tensor<1x8x8x64xbf16> {
//       %4 = nn.tanh %arg1 : tensor<1x8x8x64xf32>
//       %5 = nn.cast %4 {to = bf16} : (tensor<1x8x8x64xf32>) -> tensor<1x8x8x64xbf16>
//       optc.yield %5 : tensor<1x8x8x64xbf16>
//     }
//     %2 = nn.reduce_mean %1 {axes = array<i64: 1, 2>} : (tensor<1x8x8x64xbf16>) -> tensor<1x64xbf16>
//     %3 = optc.group(%arg1 = %2, %arg2 = %0) : (tensor<1x64xbf16>, tensor<64x10xf32>) -> tensor<1x10xf32> {
//       %4 = nn.cast %arg1 {to = f32} : (tensor<1x64xbf16>) -> tensor<1x64xf32>
//       %5 = nn.cast %arg2 {to = bf16} : (tensor<64x10xf32>) -> tensor<64x10xbf16>
//       %6 = nn.cast %5 {to = f32} : (tensor<64x10xbf16>) -> tensor<64x10xf32>
//       %7 = nn.matmul %4, %6 : (tensor<1x64xf32>, tensor<64x10xf32>) -> tensor<1x10xf32>
//       optc.yield %7 : tensor<1x10xf32>
//     }
//     return %3 : tensor<1x10xf32>
//   }
// }
