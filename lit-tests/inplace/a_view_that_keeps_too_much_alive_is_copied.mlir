// RUN: optc --passes=inplace --remarks=inplace
// A view keeps its whole root alive. Where that raises the peak, the small slice is copied instead.

func.func @main(%x: tensor<16x64xf32>) -> tensor<16x2xf32> {
  %0 = nn.exp %x : tensor<16x64xf32>
  %1 = nn.slice %0 {starts = array<i64: 0, 0>, sizes = array<i64: 16, 2>} : (tensor<16x64xf32>) -> tensor<16x2xf32>
  %2 = nn.reduce_sum %0 {axes = array<i64: 1>, keepdims} : (tensor<16x64xf32>) -> tensor<16x1xf32>
  %3 = nn.repeat %2 {counts = array<i64: 16, 64>} : (tensor<16x1xf32>) -> tensor<256x64xf32>
  %4 = nn.reduce_max %3 {axes = array<i64: 0, 1>, keepdims} : (tensor<256x64xf32>) -> tensor<1x1xf32>
  %5 = nn.mul %1, %4 : (tensor<16x2xf32>, tensor<1x1xf32>) -> tensor<16x2xf32>
  return %5 : tensor<16x2xf32>
}
// ----- output
// remark: this view is copied: otherwise more bytes would be live at the peak
//  --> a_view_that_keeps_too_much_alive_is_copied.mlir:6:8
//   |
// 6 |   %1 = nn.slice %0 {starts = array<i64: 0, 0>, sizes = array<i64: 16, 2>} : (tensor<16x64xf32>) -> tensor<16x2xf32>
//   |        ^^^^^^^^
// remark: result 0 does not overwrite operand 0: it is an input that the caller keeps
//  --> a_view_that_keeps_too_much_alive_is_copied.mlir:5:8
//   |
// 5 |   %0 = nn.exp %x : tensor<16x64xf32>
//   |        ^^^^^^
// module {
//   func.func @main(%arg0: tensor<16x64xf32>) -> tensor<16x2xf32> attributes {optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.exp %arg0 {mem.kernel = "pointwise"} : tensor<16x64xf32>
//     %1 = nn.slice %0 {mem.kernel = "copy", sizes = array<i64: 16, 2>, starts = array<i64: 0, 0>} : (tensor<16x64xf32>) -> tensor<16x2xf32>
//     %2 = nn.reduce_sum %0 {axes = array<i64: 1>, keepdims, mem.kernel = "reduce"} : (tensor<16x64xf32>) -> tensor<16x1xf32>
//     %3 = nn.repeat %2 {counts = array<i64: 16, 64>, mem.kernel = "repeat"} : (tensor<16x1xf32>) -> tensor<256x64xf32>
//     %4 = nn.reduce_max %3 {axes = array<i64: 0, 1>, keepdims, mem.kernel = "reduce"} : (tensor<256x64xf32>) -> tensor<1x1xf32>
//     %5 = nn.mul %1, %4 {mem.kernel = "pointwise", mem.tie = array<i64: 0>} : (tensor<16x2xf32>, tensor<1x1xf32>) -> tensor<16x2xf32>
//     return %5 : tensor<16x2xf32>
//   }
// }
