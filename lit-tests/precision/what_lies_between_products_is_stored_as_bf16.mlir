// RUN: optc --passes=fuse,precision
// The first product rounds what it stores, after its activation; the input and the output stay f32.

func.func @main(%x: tensor<16x32xf32>) -> tensor<16x32xf32> {
  %w = nn.constant dense<0.3> : tensor<32x32xf32>
  %0 = nn.matmul %x, %w : (tensor<16x32xf32>, tensor<32x32xf32>) -> tensor<16x32xf32>
  %1 = nn.relu %0 : tensor<16x32xf32>
  %2 = nn.matmul %1, %w : (tensor<16x32xf32>, tensor<32x32xf32>) -> tensor<16x32xf32>
  return %2 : tensor<16x32xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<16x32xf32>) -> tensor<16x32xf32> attributes {optc.stage = "fuse"} {
//     %0 = nn.constant dense<3.000000e-01> : tensor<32x32xf32>
//     %1 = optc.group(%arg1 = %arg0, %arg2 = %0) : (tensor<16x32xf32>, tensor<32x32xf32>) -> tensor<16x32xbf16> {
//       %3 = nn.cast %arg1 {to = bf16} : (tensor<16x32xf32>) -> tensor<16x32xbf16>
//       %4 = nn.cast %3 {to = f32} : (tensor<16x32xbf16>) -> tensor<16x32xf32>
//       %5 = nn.cast %arg2 {to = bf16} : (tensor<32x32xf32>) -> tensor<32x32xbf16>
//       %6 = nn.cast %5 {to = f32} : (tensor<32x32xbf16>) -> tensor<32x32xf32>
//       %7 = nn.matmul %4, %6 : (tensor<16x32xf32>, tensor<32x32xf32>) -> tensor<16x32xf32>
//       %8 = nn.relu %7 : tensor<16x32xf32>
//       %9 = nn.cast %8 {to = bf16} : (tensor<16x32xf32>) -> tensor<16x32xbf16>
//       optc.yield %9 : tensor<16x32xbf16>
//     }
//     %2 = optc.group(%arg1 = %1, %arg2 = %0) : (tensor<16x32xbf16>, tensor<32x32xf32>) -> tensor<16x32xf32> {
//       %3 = nn.cast %arg1 {to = f32} : (tensor<16x32xbf16>) -> tensor<16x32xf32>
//       %4 = nn.cast %arg2 {to = bf16} : (tensor<32x32xf32>) -> tensor<32x32xbf16>
//       %5 = nn.cast %4 {to = f32} : (tensor<32x32xbf16>) -> tensor<32x32xf32>
//       %6 = nn.matmul %3, %5 : (tensor<16x32xf32>, tensor<32x32xf32>) -> tensor<16x32xf32>
//       optc.yield %6 : tensor<16x32xf32>
//     }
//     return %2 : tensor<16x32xf32>
//   }
// }
