// RUN: optc --passes=inplace --remarks=inplace
// A view with gaps is copied if one of its readers needs dense bytes, if it is returned, or if it runs
// backwards. The remarks name the reason.

func.func @main(%x: tensor<2x8xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) {
  %0 = nn.exp %x : tensor<2x8xf32>
  %1 = nn.slice %0 {starts = array<i64: 0, 0>, sizes = array<i64: 2, 2>} : (tensor<2x8xf32>) -> tensor<2x2xf32>
  %2 = nn.slice %0 {starts = array<i64: 0, 2>, sizes = array<i64: 2, 2>} : (tensor<2x8xf32>) -> tensor<2x2xf32>
  %3 = nn.slice %0 {starts = array<i64: 0, 6>, sizes = array<i64: 2, 2>, strides = array<i64: 1, -1>} : (tensor<2x8xf32>) -> tensor<2x2xf32>
  %4 = nn.repeat %1 {counts = array<i64: 1, 1>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %5 = nn.neg %3 : tensor<2x2xf32>
  return %2, %4, %5 : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>
}
// ----- output
// remark: this view is copied: `nn.repeat` does not read it in rows
//  --> a_view_whose_reader_takes_no_rows_is_copied.mlir:7:8
//   |
// 7 |   %1 = nn.slice %0 {starts = array<i64: 0, 0>, sizes = array<i64: 2, 2>} : (tensor<2x8xf32>) -> tensor<2x2xf32>
//   |        ^^^^^^^^
//   |
//   = note: a_view_whose_reader_takes_no_rows_is_copied.mlir:10:8: it is read here
// remark: this view is copied: `func.return` hands it on
//  --> a_view_whose_reader_takes_no_rows_is_copied.mlir:8:8
//   |
// 8 |   %2 = nn.slice %0 {starts = array<i64: 0, 2>, sizes = array<i64: 2, 2>} : (tensor<2x8xf32>) -> tensor<2x2xf32>
//   |        ^^^^^^^^
//   |
//   = note: a_view_whose_reader_takes_no_rows_is_copied.mlir:12:3: it is read here
// remark: this view is copied: it is read backwards, or its elements are no whole bytes
//  --> a_view_whose_reader_takes_no_rows_is_copied.mlir:9:8
//   |
// 9 |   %3 = nn.slice %0 {starts = array<i64: 0, 6>, sizes = array<i64: 2, 2>, strides = array<i64: 1, -1>} : (tensor<2x8xf32>) -> tensor<2...
//   |        ^^^^^^^^
// remark: result 0 does not overwrite operand 0: it is an input that the caller keeps
//  --> a_view_whose_reader_takes_no_rows_is_copied.mlir:6:8
//   |
// 6 |   %0 = nn.exp %x : tensor<2x8xf32>
//   |        ^^^^^^
// module {
//   func.func @main(%arg0: tensor<2x8xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) attributes {optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.exp %arg0 {mem.kernel = "pointwise"} : tensor<2x8xf32>
//     %1 = nn.slice %0 {mem.kernel = "copy", sizes = array<i64: 2, 2>, starts = array<i64: 0, 0>} : (tensor<2x8xf32>) -> tensor<2x2xf32>
//     %2 = nn.slice %0 {mem.kernel = "copy", sizes = array<i64: 2, 2>, starts = array<i64: 0, 2>} : (tensor<2x8xf32>) -> tensor<2x2xf32>
//     %3 = nn.slice %0 {mem.kernel = "copy", sizes = array<i64: 2, 2>, starts = array<i64: 0, 6>, strides = array<i64: 1, -1>} : (tensor<2x8xf32>) -> tensor<2x2xf32>
//     %4 = nn.repeat %1 {counts = array<i64: 1, 1>, mem.kernel = "repeat"} : tensor<2x2xf32>
//     %5 = nn.neg %3 {mem.kernel = "pointwise", mem.tie = array<i64: 0>} : tensor<2x2xf32>
//     return %2, %4, %5 : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>
//   }
// }
