// RUN: optc --passes=precision
// Both operands of a product are rounded, its sum and bias are f32: all of that is written down.

func.func @main(%x: tensor<4x8xf32>) -> tensor<4x16xf32> {
  %w = nn.constant dense<0.3> : tensor<8x16xf32>
  %b = nn.constant dense<0.1> : tensor<16xf32>
  %0 = nn.matmul %x, %w, %b : (tensor<4x8xf32>, tensor<8x16xf32>, tensor<16xf32>) -> tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<4x8xf32>) -> tensor<4x16xf32> {
//     %0 = nn.constant dense<3.000000e-01> : tensor<8x16xf32>
//     %1 = nn.constant dense<1.000000e-01> : tensor<16xf32>
//     %2 = optc.group(%arg1 = %arg0, %arg2 = %0, %arg3 = %1) : (tensor<4x8xf32>, tensor<8x16xf32>, tensor<16xf32>) -> tensor<4x16xf32> {
//       %3 = nn.cast %arg1 {to = bf16} : (tensor<4x8xf32>) -> tensor<4x8xbf16>
//       %4 = nn.cast %3 {to = f32} : (tensor<4x8xbf16>) -> tensor<4x8xf32>
//       %5 = nn.cast %arg2 {to = bf16} : (tensor<8x16xf32>) -> tensor<8x16xbf16>
//       %6 = nn.cast %5 {to = f32} : (tensor<8x16xbf16>) -> tensor<8x16xf32>
//       %7 = nn.matmul %4, %6, %arg3 : (tensor<4x8xf32>, tensor<8x16xf32>, tensor<16xf32>) -> tensor<4x16xf32>
//       optc.yield %7 : tensor<4x16xf32>
//     }
//     return %2 : tensor<4x16xf32>
//   }
// }
