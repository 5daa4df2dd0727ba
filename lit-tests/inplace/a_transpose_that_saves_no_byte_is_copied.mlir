// RUN: optc --passes=inplace --remarks=inplace
// The peak lies elsewhere, so reading in another order would cost time and save nothing: the transpose is
// copied.

func.func @main(%x: tensor<16x32xf32>, %y: tensor<32x16xf32>) -> tensor<1x1xf32> {
  %0 = nn.exp %x : tensor<16x32xf32>
  %1 = nn.transpose %0 {permutation = array<i64: 1, 0>} : (tensor<16x32xf32>) -> tensor<32x16xf32>
  %2 = nn.sub %y, %1 : tensor<32x16xf32>
  %3 = nn.repeat %2 {counts = array<i64: 4, 4>} : (tensor<32x16xf32>) -> tensor<128x64xf32>
  %4 = nn.reduce_max %3 {axes = array<i64: 0, 1>, keepdims} : (tensor<128x64xf32>) -> tensor<1x1xf32>
  return %4 : tensor<1x1xf32>
}
// ----- output
// remark: this view is copied: reading it in another order would save no byte
//  --> a_transpose_that_saves_no_byte_is_copied.mlir:7:8
//   |
// 7 |   %1 = nn.transpose %0 {permutation = array<i64: 1, 0>} : (tensor<16x32xf32>) -> tensor<32x16xf32>
//   |        ^^^^^^^^^^^^
// remark: result 0 does not overwrite operand 0: it is an input that the caller keeps
//  --> a_transpose_that_saves_no_byte_is_copied.mlir:6:8
//   |
// 6 |   %0 = nn.exp %x : tensor<16x32xf32>
//   |        ^^^^^^
// remark: result 0 does not overwrite operand 0: it is an input that the caller keeps
//  --> a_transpose_that_saves_no_byte_is_copied.mlir:8:8
//   |
// 8 |   %2 = nn.sub %y, %1 : tensor<32x16xf32>
//   |        ^^^^^^
// module {
//   func.func @main(%arg0: tensor<16x32xf32>, %arg1: tensor<32x16xf32>) -> tensor<1x1xf32> attributes {optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.exp %arg0 {mem.kernel = "pointwise"} : tensor<16x32xf32>
//     %1 = nn.transpose %0 {mem.kernel = "copy", permutation = array<i64: 1, 0>} : (tensor<16x32xf32>) -> tensor<32x16xf32>
//     %2 = nn.sub %arg1, %1 {mem.kernel = "pointwise", mem.tie = array<i64: 1>} : tensor<32x16xf32>
//     %3 = nn.repeat %2 {counts = array<i64: 4, 4>, mem.kernel = "repeat"} : (tensor<32x16xf32>) -> tensor<128x64xf32>
//     %4 = nn.reduce_max %3 {axes = array<i64: 0, 1>, keepdims, mem.kernel = "reduce"} : (tensor<128x64xf32>) -> tensor<1x1xf32>
//     return %4 : tensor<1x1xf32>
//   }
// }
