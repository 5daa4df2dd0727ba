// RUN: optc --passes=fuse,precision
// Queries, keys and values are stored as bf16, and what the softmax makes is rounded to it before it is
// multiplied by the values: both products of attention multiply bf16. Scores, their sums and powers are f32.

func.func @main(%x: tensor<9x32xf32>, %mask: tensor<9x9xf32>) -> tensor<9x32xf32> {
  %w = nn.constant dense<0.3> : tensor<32x32xf32>
  %q = nn.matmul %x, %w : (tensor<9x32xf32>, tensor<32x32xf32>) -> tensor<9x32xf32>
  %x1 = nn.neg %x : tensor<9x32xf32>
  %k = nn.matmul %x1, %w : (tensor<9x32xf32>, tensor<32x32xf32>) -> tensor<9x32xf32>
  %x2 = nn.exp %x : tensor<9x32xf32>
  %v = nn.matmul %x2, %w : (tensor<9x32xf32>, tensor<32x32xf32>) -> tensor<9x32xf32>
  %0 = nn.matmul %q, %k {transpose_b} : (tensor<9x32xf32>, tensor<9x32xf32>) -> tensor<9x9xf32>
  %1 = nn.add %0, %mask : tensor<9x9xf32>
  %2 = nn.softmax %1 {axis = 1 : i64} : tensor<9x9xf32>
  %3 = nn.matmul %2, %v : (tensor<9x9xf32>, tensor<9x32xf32>) -> tensor<9x32xf32>
  return %3 : tensor<9x32xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<9x32xf32>, %arg1: tensor<9x9xf32>) -> tensor<9x32xf32> attributes {optc.stage = "fuse"} {
//     %0 = nn.constant dense<3.000000e-01> : tensor<32x32xf32>
//     %1 = optc.group(%arg2 = %arg0, %arg3 = %0) : (tensor<9x32xf32>, tensor<32x32xf32>) -> tensor<9x32xbf16> {
//       %7 = nn.cast %arg2 {to = bf16} : (tensor<9x32xf32>) -> tensor<9x32xbf16>
//       %8 = nn.cast %7 {to = f32} : (tensor<9x32xbf16>) -> tensor<9x32xf32>
//       %9 = nn.cast %arg3 {to = bf16} : (tensor<32x32xf32>) -> tensor<32x32xbf16>
//       %10 = nn.cast %9 {to = f32} : (tensor<32x32xbf16>) -> tensor<32x32xf32>
//       %11 = nn.matmul %8, %10 : (tensor<9x32xf32>, tensor<32x32xf32>) -> tensor<9x32xf32>
//       %12 = nn.cast %11 {to = bf16} : (tensor<9x32xf32>) -> tensor<9x32xbf16>
//       optc.yield %12 : tensor<9x32xbf16>
//     }
//     %2 = optc.group(%arg2 = %arg0) : (tensor<9x32xf32>) -> tensor<9x32xbf16> {
//       %7 = nn.neg %arg2 : tensor<9x32xf32>
//       %8 = nn.cast %7 {to = bf16} : (tensor<9x32xf32>) -> tensor<9x32xbf16>
//       optc.yield %8 : tensor<9x32xbf16>
//     }
//     %3 = optc.group(%arg2 = %2, %arg3 = %0) : (tensor<9x32xbf16>, tensor<32x32xf32>) -> tensor<9x32xbf16> {
//       %7 = nn.cast %arg2 {to = f32} : (tensor<9x32xbf16>) -> tensor<9x32xf32>
//       %8 = nn.cast %arg3 {to = bf16} : (tensor<32x32xf32>) -> tensor<32x32xbf16>
//       %9 = nn.cast %8 {to = f32} : (tensor<32x32xbf16>) -> tensor<32x32xf32>
//       %10 = nn.matmul %7, %9 : (tensor<9x32xf32>, tensor<32x32xf32>) -> tensor<9x32xf32>
//       %11 = nn.cast %10 {to = bf16} : (tensor<9x32xf32>) -> tensor<9x32xbf16>
//       optc.yield %11 : tensor<9x32xbf16>
//     }
//     %4 = optc.group(%arg2 = %arg0) : (tensor<9x32xf32>) -> tensor<9x32xbf16> {
//       %7 = nn.exp %arg2 : tensor<9x32xf32>
//       %8 = nn.cast %7 {to = bf16} : (tensor<9x32xf32>) -> tensor<9x32xbf16>
//       optc.yield %8 : tensor<9x32xbf16>
//     }
//     %5 = optc.group(%arg2 = %4, %arg3 = %0) : (tensor<9x32xbf16>, tensor<32x32xf32>) -> tensor<9x32xbf16> {
//       %7 = nn.cast %arg2 {to = f32} : (tensor<9x32xbf16>) -> tensor<9x32xf32>
//       %8 = nn.cast %arg3 {to = bf16} : (tensor<32x32xf32>) -> tensor<32x32xbf16>
//       %9 = nn.cast %8 {to = f32} : (tensor<32x32xbf16>) -> tensor<32x32xf32>
//       %10 = nn.matmul %7, %9 : (tensor<9x32xf32>, tensor<32x32xf32>) -> tensor<9x32xf32>
//       %11 = nn.cast %10 {to = bf16} : (tensor<9x32xf32>) -> tensor<9x32xbf16>
//       optc.yield %11 : tensor<9x32xbf16>
//     }
//     %6 = optc.group(%arg2 = %1, %arg3 = %3, %arg4 = %arg1, %arg5 = %5) : (tensor<9x32xbf16>, tensor<9x32xbf16>, tensor<9x9xf32>, tensor<9x32xbf16>) -> tensor<9x32xf32> {
//       %7 = nn.cast %arg2 {to = f32} : (tensor<9x32xbf16>) -> tensor<9x32xf32>
//       %8 = nn.cast %arg3 {to = f32} : (tensor<9x32xbf16>) -> tensor<9x32xf32>
//       %9 = nn.cast %arg5 {to = f32} : (tensor<9x32xbf16>) -> tensor<9x32xf32>
//       %10 = nn.matmul %7, %8 {transpose_b} : (tensor<9x32xf32>, tensor<9x32xf32>) -> tensor<9x9xf32>
//       %11 = nn.add %10, %arg4 : tensor<9x9xf32>
//       %12 = nn.softmax %11 {axis = 1 : i64} : tensor<9x9xf32>
//       %13 = nn.cast %12 {to = bf16} : (tensor<9x9xf32>) -> tensor<9x9xbf16>
//       %14 = nn.cast %13 {to = f32} : (tensor<9x9xbf16>) -> tensor<9x9xf32>
//       %15 = nn.matmul %14, %9 : (tensor<9x9xf32>, tensor<9x32xf32>) -> tensor<9x32xf32>
//       optc.yield %15 : tensor<9x32xf32>
//     }
//     return %6 : tensor<9x32xf32>
//   }
// }
