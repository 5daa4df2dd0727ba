// RUN: optc --passes=fuse,precision
// Queries, keys and values are slices of one value, which is stored as bf16 and converted once.

func.func @main(%x: tensor<9x32xf32>) -> tensor<9x32xf32> {
  %w = nn.constant dense<0.3> : tensor<32x96xf32>
  %0 = nn.matmul %x, %w : (tensor<9x32xf32>, tensor<32x96xf32>) -> tensor<9x96xf32>
  %q = nn.slice %0 {sizes = array<i64: 9, 32>, starts = array<i64: 0, 0>} : (tensor<9x96xf32>) -> tensor<9x32xf32>
  %k = nn.slice %0 {sizes = array<i64: 9, 32>, starts = array<i64: 0, 32>} : (tensor<9x96xf32>) -> tensor<9x32xf32>
  %v = nn.slice %0 {sizes = array<i64: 9, 32>, starts = array<i64: 0, 64>} : (tensor<9x96xf32>) -> tensor<9x32xf32>
  %1 = nn.matmul %q, %k {transpose_b} : (tensor<9x32xf32>, tensor<9x32xf32>) -> tensor<9x9xf32>
  %2 = nn.softmax %1 {axis = 1 : i64} : tensor<9x9xf32>
  %3 = nn.matmul %2, %v : (tensor<9x9xf32>, tensor<9x32xf32>) -> tensor<9x32xf32>
  return %3 : tensor<9x32xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<9x32xf32>) -> tensor<9x32xf32> attributes {optc.stage = "fuse"} {
//     %0 = nn.constant dense<3.000000e-01> : tensor<32x96xf32>
//     %1 = optc.group(%arg1 = %arg0, %arg2 = %0) : (tensor<9x32xf32>, tensor<32x96xf32>) -> tensor<9x96xbf16> {
//       %3 = nn.cast %arg1 {to = bf16} : (tensor<9x32xf32>) -> tensor<9x32xbf16>
//       %4 = nn.cast %3 {to = f32} : (tensor<9x32xbf16>) -> tensor<9x32xf32>
//       %5 = nn.cast %arg2 {to = bf16} : (tensor<32x96xf32>) -> tensor<32x96xbf16>
//       %6 = nn.cast %5 {to = f32} : (tensor<32x96xbf16>) -> tensor<32x96xf32>
//       %7 = nn.matmul %4, %6 : (tensor<9x32xf32>, tensor<32x96xf32>) -> tensor<9x96xf32>
//       %8 = nn.cast %7 {to = bf16} : (tensor<9x96xf32>) -> tensor<9x96xbf16>
//       optc.yield %8 : tensor<9x96xbf16>
//     }
//     %2 = optc.group(%arg1 = %1) : (tensor<9x96xbf16>) -> tensor<9x32xf32> {
//       %3 = nn.cast %arg1 {to = f32} : (tensor<9x96xbf16>) -> tensor<9x96xf32>
//       %4 = nn.slice %3 {sizes = array<i64: 9, 32>, starts = array<i64: 0, 0>} : (tensor<9x96xf32>) -> tensor<9x32xf32>
//       %5 = nn.slice %3 {sizes = array<i64: 9, 32>, starts = array<i64: 0, 32>} : (tensor<9x96xf32>) -> tensor<9x32xf32>
//       %6 = nn.slice %3 {sizes = array<i64: 9, 32>, starts = array<i64: 0, 64>} : (tensor<9x96xf32>) -> tensor<9x32xf32>
//       %7 = nn.matmul %4, %5 {transpose_b} : (tensor<9x32xf32>, tensor<9x32xf32>) -> tensor<9x9xf32>
//       %8 = nn.softmax %7 {axis = 1 : i64} : tensor<9x9xf32>
//       %9 = nn.cast %8 {to = bf16} : (tensor<9x9xf32>) -> tensor<9x9xbf16>
//       %10 = nn.cast %9 {to = f32} : (tensor<9x9xbf16>) -> tensor<9x9xf32>
//       %11 = nn.matmul %10, %6 : (tensor<9x9xf32>, tensor<9x32xf32>) -> tensor<9x32xf32>
//       optc.yield %11 : tensor<9x32xf32>
//     }
//     return %2 : tensor<9x32xf32>
//   }
// }
