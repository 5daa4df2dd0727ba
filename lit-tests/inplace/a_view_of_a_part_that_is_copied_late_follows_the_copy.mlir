// RUN: optc --passes=inplace
// A reshape of the slice stands before the operation after which the slice is copied. It reads the copy, so
// it moves to after it, with the reshape of it.

func.func @main(%x: tensor<8x64xf32>, %y: tensor<8x1024xf32>) -> tensor<4x16xf32> {
  %0 = nn.exp %x : tensor<8x64xf32>
  %1 = nn.slice %0 {sizes = array<i64: 1, 64>, starts = array<i64: 2, 0>} : (tensor<8x64xf32>) -> tensor<1x64xf32>
  %2 = nn.reshape %1 {shape = array<i64: 8, 8>} : (tensor<1x64xf32>) -> tensor<8x8xf32>
  %3 = nn.reshape %2 {shape = array<i64: 4, 16>} : (tensor<8x8xf32>) -> tensor<4x16xf32>
  %4 = nn.reduce_max %0 {axes = array<i64: 1>, keepdims} : (tensor<8x64xf32>) -> tensor<8x1xf32>
  %5 = nn.add %4, %y : (tensor<8x1xf32>, tensor<8x1024xf32>) -> tensor<8x1024xf32>
  %6 = nn.reduce_max %5 {axes = array<i64: 0, 1>, keepdims} : (tensor<8x1024xf32>) -> tensor<1x1xf32>
  %7 = nn.mul %6, %3 : (tensor<1x1xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  return %7 : tensor<4x16xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<8x64xf32>, %arg1: tensor<8x1024xf32>) -> tensor<4x16xf32> attributes {optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.exp %arg0 {mem.kernel = "pointwise"} : tensor<8x64xf32>
//     %1 = nn.slice %0 {mem.kernel = "copy", sizes = array<i64: 1, 64>, starts = array<i64: 2, 0>} : (tensor<8x64xf32>) -> tensor<1x64xf32>
//     %2 = nn.reduce_max %0 {axes = array<i64: 1>, keepdims, mem.kernel = "reduce"} : (tensor<8x64xf32>) -> tensor<8x1xf32>
//     %3 = optc.copy %1 : tensor<1x64xf32>
//     %4 = nn.reshape %3 {mem.kernel = "copy", shape = array<i64: 8, 8>} : (tensor<1x64xf32>) -> tensor<8x8xf32>
//     %5 = nn.reshape %4 {mem.kernel = "copy", shape = array<i64: 4, 16>} : (tensor<8x8xf32>) -> tensor<4x16xf32>
//     %6 = nn.add %2, %arg1 {mem.kernel = "pointwise"} : (tensor<8x1xf32>, tensor<8x1024xf32>) -> tensor<8x1024xf32>
//     %7 = nn.reduce_max %6 {axes = array<i64: 0, 1>, keepdims, mem.kernel = "reduce"} : (tensor<8x1024xf32>) -> tensor<1x1xf32>
//     %8 = nn.mul %7, %5 {mem.kernel = "pointwise", mem.tie = array<i64: 1>} : (tensor<1x1xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
//     return %8 : tensor<4x16xf32>
//   }
// }
