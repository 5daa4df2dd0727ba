// RUN: optc --passes=fuse
// Bias and activation are applied while the product's tile is in registers; apart they would be two more
// passes over memory.

func.func @main(%arg0: tensor<2x8xf32>) -> tensor<2x16xf32> {
  %w = nn.constant dense<0.5> : tensor<8x16xf32>
  %b = nn.constant dense<0.1> : tensor<16xf32>
  %0 = nn.matmul %arg0, %w : (tensor<2x8xf32>, tensor<8x16xf32>) -> tensor<2x16xf32>
  %1 = nn.add %0, %b : (tensor<2x16xf32>, tensor<16xf32>) -> tensor<2x16xf32>
  %2 = nn.gelu %1 : tensor<2x16xf32>
  return %2 : tensor<2x16xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<2x8xf32>) -> tensor<2x16xf32> attributes {optc.stage = "fuse"} {
//     %0 = nn.constant dense<5.000000e-01> : tensor<8x16xf32>
//     %1 = nn.constant dense<1.000000e-01> : tensor<16xf32>
//     %2 = optc.group(%arg1 = %arg0, %arg2 = %0, %arg3 = %1) : (tensor<2x8xf32>, tensor<8x16xf32>, tensor<16xf32>) -> tensor<2x16xf32> {
//       %3 = nn.matmul %arg1, %arg2 : (tensor<2x8xf32>, tensor<8x16xf32>) -> tensor<2x16xf32>
//       %4 = nn.add %3, %arg3 : (tensor<2x16xf32>, tensor<16xf32>) -> tensor<2x16xf32>
//       %5 = nn.gelu %4 : tensor<2x16xf32>
//       optc.yield %5 : tensor<2x16xf32>
//     }
//     return %2 : tensor<2x16xf32>
//   }
// }
