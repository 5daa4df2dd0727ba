// RUN: optc --passes=inplace --remarks=inplace
// Copying a slice so that its root can die pays only if the peak drops. Here the copy saves nothing, so it
// must not be made.

func.func @read_late_by_the_largest(%x: tensor<8x64xf32>) -> tensor<1x64xf32> {
  %0 = nn.exp %x : tensor<8x64xf32>
  %1 = nn.slice %0 {sizes = array<i64: 1, 64>, starts = array<i64: 2, 0>} : (tensor<8x64xf32>) -> tensor<1x64xf32>
  %2 = nn.reduce_max %0 {axes = array<i64: 0, 1>, keepdims} : (tensor<8x64xf32>) -> tensor<1x1xf32>
  %3 = nn.mul %2, %1 : (tensor<1x1xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  return %3 : tensor<1x64xf32>
}

func.func @of_an_input(%x: tensor<8x64xf32>, %y: tensor<8x1024xf32>) -> tensor<1x64xf32> {
  %0 = nn.slice %x {sizes = array<i64: 1, 64>, starts = array<i64: 2, 0>} : (tensor<8x64xf32>) -> tensor<1x64xf32>
  %1 = nn.reduce_max %x {axes = array<i64: 1>, keepdims} : (tensor<8x64xf32>) -> tensor<8x1xf32>
  %2 = nn.add %1, %y : (tensor<8x1xf32>, tensor<8x1024xf32>) -> tensor<8x1024xf32>
  %3 = nn.reduce_max %2 {axes = array<i64: 0, 1>, keepdims} : (tensor<8x1024xf32>) -> tensor<1x1xf32>
  %4 = nn.mul %3, %0 : (tensor<1x1xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  return %4 : tensor<1x64xf32>
}
// ----- output
// remark: result 0 does not overwrite operand 0: it is an input that the caller keeps
//  --> a_part_is_not_copied_where_no_byte_is_saved.mlir:6:8
//   |
// 6 |   %0 = nn.exp %x : tensor<8x64xf32>
//   |        ^^^^^^
// remark: result 0 does not overwrite operand 1: its size is not proved to equal the result's
//  --> a_part_is_not_copied_where_no_byte_is_saved.mlir:9:8
//   |
// 9 |   %3 = nn.mul %2, %1 : (tensor<1x1xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
//   |        ^^^^^^
// remark: result 0 does not overwrite operand 1: it is an input that the caller keeps
//   --> a_part_is_not_copied_where_no_byte_is_saved.mlir:16:8
//    |
// 16 |   %2 = nn.add %1, %y : (tensor<8x1xf32>, tensor<8x1024xf32>) -> tensor<8x1024xf32>
//    |        ^^^^^^
// remark: result 0 does not overwrite operand 1: it is an input that the caller keeps
//   --> a_part_is_not_copied_where_no_byte_is_saved.mlir:18:8
//    |
// 18 |   %4 = nn.mul %3, %0 : (tensor<1x1xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
//    |        ^^^^^^
// module {
//   func.func @read_late_by_the_largest(%arg0: tensor<8x64xf32>) -> tensor<1x64xf32> attributes {optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.exp %arg0 {mem.kernel = "pointwise"} : tensor<8x64xf32>
//     %1 = nn.slice %0 {mem.kernel = "copy", sizes = array<i64: 1, 64>, starts = array<i64: 2, 0>} : (tensor<8x64xf32>) -> tensor<1x64xf32>
//     %2 = nn.reduce_max %0 {axes = array<i64: 0, 1>, keepdims, mem.kernel = "reduce"} : (tensor<8x64xf32>) -> tensor<1x1xf32>
//     %3 = nn.mul %2, %1 {mem.kernel = "pointwise"} : (tensor<1x1xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
//     return %3 : tensor<1x64xf32>
//   }
//   func.func @of_an_input(%arg0: tensor<8x64xf32>, %arg1: tensor<8x1024xf32>) -> tensor<1x64xf32> attributes {optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.slice %arg0 {mem.kernel = "copy", sizes = array<i64: 1, 64>, starts = array<i64: 2, 0>} : (tensor<8x64xf32>) -> tensor<1x64xf32>
//     %1 = nn.reduce_max %arg0 {axes = array<i64: 1>, keepdims, mem.kernel = "reduce"} : (tensor<8x64xf32>) -> tensor<8x1xf32>
//     %2 = nn.add %1, %arg1 {mem.kernel = "pointwise"} : (tensor<8x1xf32>, tensor<8x1024xf32>) -> tensor<8x1024xf32>
//     %3 = nn.reduce_max %2 {axes = array<i64: 0, 1>, keepdims, mem.kernel = "reduce"} : (tensor<8x1024xf32>) -> tensor<1x1xf32>
//     %4 = nn.mul %3, %0 {mem.kernel = "pointwise"} : (tensor<1x1xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
//     return %4 : tensor<1x64xf32>
//   }
// }
