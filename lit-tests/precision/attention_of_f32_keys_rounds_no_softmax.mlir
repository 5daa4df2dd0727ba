// RUN: optc --passes=fuse,precision
// Keys are an input, which stays f32. No kernel multiplies pairs then, so rounding the softmax would only
// lose digits.

func.func @main(%x: tensor<9x32xf32>, %k: tensor<9x32xf32>) -> tensor<9x32xf32> {
  %w = nn.constant dense<0.3> : tensor<32x32xf32>
  %q = nn.matmul %x, %w : (tensor<9x32xf32>, tensor<32x32xf32>) -> tensor<9x32xf32>
  %x1 = nn.neg %x : tensor<9x32xf32>
  %v = nn.matmul %x1, %w : (tensor<9x32xf32>, tensor<32x32xf32>) -> tensor<9x32xf32>
  %0 = nn.matmul %q, %k {transpose_b} : (tensor<9x32xf32>, tensor<9x32xf32>) -> tensor<9x9xf32>
  %1 = nn.softmax %0 {axis = 1 : i64} : tensor<9x9xf32>
  %2 = nn.matmul %1, %v : (tensor<9x9xf32>, tensor<9x32xf32>) -> tensor<9x32xf32>
  return %2 : tensor<9x32xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<9x32xf32>, %arg1: tensor<9x32xf32>) -> tensor<9x32xf32> attributes {optc.stage = "fuse"} {
//     %0 = nn.constant dense<3.000000e-01> : tensor<32x32xf32>
//     %1 = optc.group(%arg2 = %arg0, %arg3 = %0) : (tensor<9x32xf32>, tensor<32x32xf32>) -> tensor<9x32xbf16> {
//       %5 = nn.cast %arg2 {to = bf16} : (tensor<9x32xf32>) -> tensor<9x32xbf16>
//       %6 = nn.cast %5 {to = f32} : (tensor<9x32xbf16>) -> tensor<9x32xf32>
//       %7 = nn.cast %arg3 {to = bf16} : (tensor<32x32xf32>) -> tensor<32x32xbf16>
//       %8 = nn.cast %7 {to = f32} : (tensor<32x32xbf16>) -> tensor<32x32xf32>
//       %9 = nn.matmul %6, %8 : (tensor<9x32xf32>, tensor<32x32xf32>) -> tensor<9x32xf32>
//       %10 = nn.cast %9 {to = bf16} : (tensor<9x32xf32>) -> tensor<9x32xbf16>
//       optc.yield %10 : tensor<9x32xbf16>
//     }
//     %2 = optc.group(%arg2 = %arg0) : (tensor<9x32xf32>) -> tensor<9x32xbf16> {
//       %5 = nn.neg %arg2 : tensor<9x32xf32>
//       %6 = nn.cast %5 {to = bf16} : (tensor<9x32xf32>) -> tensor<9x32xbf16>
//       optc.yield %6 : tensor<9x32xbf16>
//     }
//     %3 = optc.group(%arg2 = %2, %arg3 = %0) : (tensor<9x32xbf16>, tensor<32x32xf32>) -> tensor<9x32xbf16> {
//       %5 = nn.cast %arg2 {to = f32} : (tensor<9x32xbf16>) -> tensor<9x32xf32>
//       %6 = nn.cast %arg3 {to = bf16} : (tensor<32x32xf32>) -> tensor<32x32xbf16>
//       %7 = nn.cast %6 {to = f32} : (tensor<32x32xbf16>) -> tensor<32x32xf32>
//       %8 = nn.matmul %5, %7 : (tensor<9x32xf32>, tensor<32x32xf32>) -> tensor<9x32xf32>
//       %9 = nn.cast %8 {to = bf16} : (tensor<9x32xf32>) -> tensor<9x32xbf16>
//       optc.yield %9 : tensor<9x32xbf16>
//     }
//     %4 = optc.group(%arg2 = %1, %arg3 = %arg1, %arg4 = %3) : (tensor<9x32xbf16>, tensor<9x32xf32>, tensor<9x32xbf16>) -> tensor<9x32xf32> {
//       %5 = nn.cast %arg2 {to = f32} : (tensor<9x32xbf16>) -> tensor<9x32xf32>
//       %6 = nn.cast %arg4 {to = f32} : (tensor<9x32xbf16>) -> tensor<9x32xf32>
//       %7 = nn.matmul %5, %arg3 {transpose_b} : (tensor<9x32xf32>, tensor<9x32xf32>) -> tensor<9x9xf32>
//       %8 = nn.softmax %7 {axis = 1 : i64} : tensor<9x9xf32>
//       %9 = nn.matmul %8, %6 : (tensor<9x9xf32>, tensor<9x32xf32>) -> tensor<9x32xf32>
//       optc.yield %9 : tensor<9x32xf32>
//     }
//     return %4 : tensor<9x32xf32>
//   }
// }
