// RUN: optc --passes=layout,fuse,precision
// Copies of short rows take longer than their products, so sums of fewer than eight products stay f32.

func.func @main(%x: tensor<64x7xf32>, %y: tensor<64x8xf32>) -> (tensor<64x48xf32>, tensor<64x48xf32>) {
  %w = nn.constant dense<0.3> : tensor<7x48xf32>
  %v = nn.constant dense<0.2> : tensor<8x48xf32>
  %0 = nn.matmul %x, %w : (tensor<64x7xf32>, tensor<7x48xf32>) -> tensor<64x48xf32>
  %1 = nn.matmul %y, %v : (tensor<64x8xf32>, tensor<8x48xf32>) -> tensor<64x48xf32>
  return %0, %1 : tensor<64x48xf32>, tensor<64x48xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<64x7xf32>, %arg1: tensor<64x8xf32>) -> (tensor<64x48xf32>, tensor<64x48xf32>) attributes {optc.stage = "fuse"} {
//     %0 = nn.constant dense<3.000000e-01> : tensor<7x48xf32>
//     %1 = nn.constant dense<2.000000e-01> : tensor<8x48xf32>
//     %2 = nn.matmul %arg0, %0 : (tensor<64x7xf32>, tensor<7x48xf32>) -> tensor<64x48xf32>
//     %3 = optc.group(%arg2 = %arg1, %arg3 = %1) : (tensor<64x8xf32>, tensor<8x48xf32>) -> tensor<64x48xf32> {
//       %4 = nn.cast %arg2 {to = bf16} : (tensor<64x8xf32>) -> tensor<64x8xbf16>
//       %5 = nn.cast %4 {to = f32} : (tensor<64x8xbf16>) -> tensor<64x8xf32>
//       %6 = nn.cast %arg3 {to = bf16} : (tensor<8x48xf32>) -> tensor<8x48xbf16>
//       %7 = nn.cast %6 {to = f32} : (tensor<8x48xbf16>) -> tensor<8x48xf32>
//       %8 = nn.matmul %5, %7 : (tensor<64x8xf32>, tensor<8x48xf32>) -> tensor<64x48xf32>
//       optc.yield %8 : tensor<64x48xf32>
//     }
//     return %2, %3 : tensor<64x48xf32>, tensor<64x48xf32>
//   }
// }
