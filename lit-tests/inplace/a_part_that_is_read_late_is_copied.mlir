// RUN: optc --passes=inplace --remarks=inplace
// A slice that is read much later keeps its whole root alive. Copying the few bytes lets the root die before
// the peak.

func.func @main(%x: tensor<8x64xf32>, %y: tensor<8x1024xf32>) -> tensor<1x64xf32> {
  %0 = nn.exp %x : tensor<8x64xf32>
  %1 = nn.slice %0 {sizes = array<i64: 1, 64>, starts = array<i64: 2, 0>} : (tensor<8x64xf32>) -> tensor<1x64xf32>
  %2 = nn.reduce_max %0 {axes = array<i64: 1>, keepdims} : (tensor<8x64xf32>) -> tensor<8x1xf32>
  %3 = nn.add %2, %y : (tensor<8x1xf32>, tensor<8x1024xf32>) -> tensor<8x1024xf32>
  %4 = nn.reduce_max %3 {axes = array<i64: 0, 1>, keepdims} : (tensor<8x1024xf32>) -> tensor<1x1xf32>
  %5 = nn.mul %4, %1 : (tensor<1x1xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  return %5 : tensor<1x64xf32>
}
// ----- output
// remark: this part is copied, so that the rest need not be kept: 2020 bytes fewer are live
//  --> a_part_that_is_read_late_is_copied.mlir:7:8
//   |
// 7 |   %1 = nn.slice %0 {sizes = array<i64: 1, 64>, starts = array<i64: 2, 0>} : (tensor<8x64xf32>) -> tensor<1x64xf32>
//   |        ^^^^^^^^
//   |
//   = note: a_part_that_is_read_late_is_copied.mlir:8:8: it is copied after this
// remark: result 0 does not overwrite operand 0: it is an input that the caller keeps
//  --> a_part_that_is_read_late_is_copied.mlir:6:8
//   |
// 6 |   %0 = nn.exp %x : tensor<8x64xf32>
//   |        ^^^^^^
// remark: result 0 does not overwrite operand 0: its size is not proved to equal the result's
//  --> a_part_that_is_read_late_is_copied.mlir:9:8
//   |
// 9 |   %3 = nn.add %2, %y : (tensor<8x1xf32>, tensor<8x1024xf32>) -> tensor<8x1024xf32>
//   |        ^^^^^^
// remark: result 0 does not overwrite operand 1: it is an input that the caller keeps
//  --> a_part_that_is_read_late_is_copied.mlir:9:8
//   |
// 9 |   %3 = nn.add %2, %y : (tensor<8x1xf32>, tensor<8x1024xf32>) -> tensor<8x1024xf32>
//   |        ^^^^^^
// module {
//   func.func @main(%arg0: tensor<8x64xf32>, %arg1: tensor<8x1024xf32>) -> tensor<1x64xf32> attributes {optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.exp %arg0 {mem.kernel = "pointwise"} : tensor<8x64xf32>
//     %1 = nn.slice %0 {mem.kernel = "copy", sizes = array<i64: 1, 64>, starts = array<i64: 2, 0>} : (tensor<8x64xf32>) -> tensor<1x64xf32>
//     %2 = nn.reduce_max %0 {axes = array<i64: 1>, keepdims, mem.kernel = "reduce"} : (tensor<8x64xf32>) -> tensor<8x1xf32>
//     %3 = optc.copy %1 : tensor<1x64xf32>
//     %4 = nn.add %2, %arg1 {mem.kernel = "pointwise"} : (tensor<8x1xf32>, tensor<8x1024xf32>) -> tensor<8x1024xf32>
//     %5 = nn.reduce_max %4 {axes = array<i64: 0, 1>, keepdims, mem.kernel = "reduce"} : (tensor<8x1024xf32>) -> tensor<1x1xf32>
//     %6 = nn.mul %5, %3 {mem.kernel = "pointwise", mem.tie = array<i64: 1>} : (tensor<1x1xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
//     return %6 : tensor<1x64xf32>
//   }
// }
