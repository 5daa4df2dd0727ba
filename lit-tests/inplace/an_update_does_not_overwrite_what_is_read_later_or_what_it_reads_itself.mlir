// RUN: optc --passes=inplace --remarks=inplace
// An update works in place only if nothing reads the old bytes afterwards, and if its own source does not
// overlap its target.

func.func @read_later(%x: tensor<8xf32>, %a: tensor<2xf32>) -> tensor<8xf32> {
  %0 = nn.exp %x : tensor<8xf32>
  %1 = nn.insert_slice %a, %0 {starts = array<i64: 0>} : (tensor<2xf32>, tensor<8xf32>) -> tensor<8xf32>
  %2 = nn.add %1, %0 : tensor<8xf32>
  return %2 : tensor<8xf32>
}

// The larger value keeps the peak where it is, so that nothing is saved by a copy.
func.func @moved_within(%x: tensor<8xf32>, %y: tensor<64xf32>) -> (tensor<1xf32>, tensor<1xf32>) {
  %0 = nn.exp %x : tensor<8xf32>
  %1 = nn.slice %0 {starts = array<i64: 0>, sizes = array<i64: 4>} : (tensor<8xf32>) -> tensor<4xf32>
  %2 = nn.insert_slice %1, %0 {starts = array<i64: 2>} : (tensor<4xf32>, tensor<8xf32>) -> tensor<8xf32>
  %3 = nn.reduce_max %2 {axes = array<i64: 0>, keepdims} : (tensor<8xf32>) -> tensor<1xf32>
  %4 = nn.exp %y : tensor<64xf32>
  %5 = nn.reduce_max %4 {axes = array<i64: 0>, keepdims} : (tensor<64xf32>) -> tensor<1xf32>
  return %3, %5 : tensor<1xf32>, tensor<1xf32>
}
// ----- output
// remark: result 0 does not overwrite operand 0: it is an input that the caller keeps
//  --> an_update_does_not_overwrite_what_is_read_later_or_what_it_reads_itself.mlir:6:8
//   |
// 6 |   %0 = nn.exp %x : tensor<8xf32>
//   |        ^^^^^^
// remark: result 0 does not overwrite operand 1: its bytes are read later
//  --> an_update_does_not_overwrite_what_is_read_later_or_what_it_reads_itself.mlir:7:8
//   |
// 7 |   %1 = nn.insert_slice %a, %0 {starts = array<i64: 0>} : (tensor<2xf32>, tensor<8xf32>) -> tensor<8xf32>
//   |        ^^^^^^^^^^^^^^^
//   |
//   = note: an_update_does_not_overwrite_what_is_read_later_or_what_it_reads_itself.mlir:8:8: it is read here
// remark: result 0 does not overwrite operand 0: it is an input that the caller keeps
//   --> an_update_does_not_overwrite_what_is_read_later_or_what_it_reads_itself.mlir:14:8
//    |
// 14 |   %0 = nn.exp %x : tensor<8xf32>
//    |        ^^^^^^
// remark: result 0 does not overwrite operand 1: another operand reads the same bytes in another order
//   --> an_update_does_not_overwrite_what_is_read_later_or_what_it_reads_itself.mlir:16:8
//    |
// 16 |   %2 = nn.insert_slice %1, %0 {starts = array<i64: 2>} : (tensor<4xf32>, tensor<8xf32>) -> tensor<8xf32>
//    |        ^^^^^^^^^^^^^^^
// remark: result 0 does not overwrite operand 0: it is an input that the caller keeps
//   --> an_update_does_not_overwrite_what_is_read_later_or_what_it_reads_itself.mlir:18:8
//    |
// 18 |   %4 = nn.exp %y : tensor<64xf32>
//    |        ^^^^^^
// module {
//   func.func @read_later(%arg0: tensor<8xf32>, %arg1: tensor<2xf32>) -> tensor<8xf32> attributes {optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.exp %arg0 {mem.kernel = "pointwise"} : tensor<8xf32>
//     %1 = nn.insert_slice %arg1, %0 {mem.kernel = "insert_slice", starts = array<i64: 0>} : (tensor<2xf32>, tensor<8xf32>) -> tensor<8xf32>
//     %2 = nn.add %1, %0 {mem.kernel = "pointwise", mem.tie = array<i64: 0>} : tensor<8xf32>
//     return %2 : tensor<8xf32>
//   }
//   func.func @moved_within(%arg0: tensor<8xf32>, %arg1: tensor<64xf32>) -> (tensor<1xf32>, tensor<1xf32>) attributes {optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.exp %arg0 {mem.kernel = "pointwise"} : tensor<8xf32>
//     %1 = nn.slice %0 {mem.kernel = "copy", sizes = array<i64: 4>, starts = array<i64: 0>} : (tensor<8xf32>) -> tensor<4xf32>
//     %2 = nn.insert_slice %1, %0 {mem.kernel = "insert_slice", starts = array<i64: 2>} : (tensor<4xf32>, tensor<8xf32>) -> tensor<8xf32>
//     %3 = nn.reduce_max %2 {axes = array<i64: 0>, keepdims, mem.kernel = "reduce"} : (tensor<8xf32>) -> tensor<1xf32>
//     %4 = nn.exp %arg1 {mem.kernel = "pointwise"} : tensor<64xf32>
//     %5 = nn.reduce_max %4 {axes = array<i64: 0>, keepdims, mem.kernel = "reduce"} : (tensor<64xf32>) -> tensor<1xf32>
//     return %3, %5 : tensor<1xf32>, tensor<1xf32>
//   }
// }
