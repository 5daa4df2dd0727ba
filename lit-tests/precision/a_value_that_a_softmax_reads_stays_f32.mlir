// RUN: optc --passes=fuse,precision
// No kernel of softmax reads bf16, so the product that makes its operand stores f32; what the elementwise
// operation makes for the next product is bf16.

func.func @main(%x: tensor<16x32xf32>) -> tensor<16x32xf32> {
  %w = nn.constant dense<0.3> : tensor<32x32xf32>
  %0 = nn.matmul %x, %w : (tensor<16x32xf32>, tensor<32x32xf32>) -> tensor<16x32xf32>
  %1 = nn.softmax %0 {axis = 1 : i64} : tensor<16x32xf32>
  %2 = nn.neg %1 : tensor<16x32xf32>
  %3 = nn.matmul %2, %w : (tensor<16x32xf32>, tensor<32x32xf32>) -> tensor<16x32xf32>
  return %3 : tensor<16x32xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<16x32xf32>) -> tensor<16x32xf32> attributes {optc.stage = "fuse"} {
//     %0 = nn.constant dense<3.000000e-01> : tensor<32x32xf32>
//     %1 = optc.group(%arg1 = %arg0, %arg2 = %0) : (tensor<16x32xf32>, tensor<32x32xf32>) -> tensor<16x32xf32> {
//       %5 = nn.cast %arg1 {to = bf16} : (tensor<16x32xf32>) -> tensor<16x32xbf16>
//       %6 = nn.cast %5 {to = f32} : (tensor<16x32xbf16>) -> tensor<16x32xf32>
//       %7 = nn.cast %arg2 {to = bf16} : (tensor<32x32xf32>) -> tensor<32x32xbf16>
//       %8 = nn.cast %7 {to = f32} : (tensor<32x32xbf16>) -> tensor<32x32xf32>
//       %9 = nn.matmul %6, %8 : (tensor<16x32xf32>, tensor<32x32xf32>) -> tensor<16x32xf32>
//       optc.yield %9 : tensor<16x32xf32>
//     }
//     %2 = nn.softmax %1 {axis = 1 : i64} : tensor<16x32xf32>
//     %3 = optc.group(%arg1 = %2) : (tensor<16x32xf32>) -> tensor<16x32xbf16> {
//       %5 = nn.neg %arg1 : tensor<16x32xf32>
//       %6 = nn.cast %5 {to = bf16} : (tensor<16x32xf32>) -> tensor<16x32xbf16>
//       optc.yield %6 : tensor<16x32xbf16>
//     }
//     %4 = optc.group(%arg1 = %3, %arg2 = %0) : (tensor<16x32xbf16>, tensor<32x32xf32>) -> tensor<16x32xf32> {
//       %5 = nn.cast %arg1 {to = f32} : (tensor<16x32xbf16>) -> tensor<16x32xf32>
//       %6 = nn.cast %arg2 {to = bf16} : (tensor<32x32xf32>) -> tensor<32x32xbf16>
//       %7 = nn.cast %6 {to = f32} : (tensor<32x32xbf16>) -> tensor<32x32xf32>
//       %8 = nn.matmul %5, %7 : (tensor<16x32xf32>, tensor<32x32xf32>) -> tensor<16x32xf32>
//       optc.yield %8 : tensor<16x32xf32>
//     }
//     return %4 : tensor<16x32xf32>
//   }
// }
