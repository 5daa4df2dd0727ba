// RUN: optc --passes=inplace
// A matrix product reads each row many times, so its result must not overwrite either operand.

func.func @main(%arg0: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = nn.exp %arg0 : tensor<4x4xf32>
  %1 = nn.matmul %0, %0 : tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.exp %arg0 {mem.kernel = "pointwise"} : tensor<4x4xf32>
//     %1 = nn.matmul %0, %0 {mem.kernel = "gemm", mem.scratch = 256 : i64} : tensor<4x4xf32>
//     return %1 : tensor<4x4xf32>
//   }
// }
