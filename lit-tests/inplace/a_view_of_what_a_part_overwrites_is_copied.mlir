// RUN: optc --passes=inplace,plan --remarks=inplace
// The product overwrites its operand at its place in the concatenation, and a convolution reads a transpose of
// that operand later. So the transpose is a copy.

func.func @main(%x: tensor<2x4x64x64xf32>, %y: tensor<2x4x64x64xf32>) -> tensor<2x8x64x64xf32> {
  %w = nn.constant dense<0.25> : tensor<1x4x3x3xf32>
  %0 = nn.max %x, %y : tensor<2x4x64x64xf32>
  %1 = nn.transpose %0 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<2x4x64x64xf32>) -> tensor<2x64x64x4xf32>
  %2 = nn.reduce_mean %0 {axes = array<i64: 3>, keepdims} : (tensor<2x4x64x64xf32>) -> tensor<2x4x64x1xf32>
  %3 = nn.mul %0, %2 : (tensor<2x4x64x64xf32>, tensor<2x4x64x1xf32>) -> tensor<2x4x64x64xf32>
  %4 = nn.conv2d %1, %w {layout = "NHWC", pads = array<i64: 1, 1, 1, 1>} : (tensor<2x64x64x4xf32>, tensor<1x4x3x3xf32>) -> tensor<2x64x64x1xf32>
  %5 = nn.reshape %4 {shape = array<i64: 2, 1, 64, 64>} : (tensor<2x64x64x1xf32>) -> tensor<2x1x64x64xf32>
  %6 = nn.max %5, %y : (tensor<2x1x64x64xf32>, tensor<2x4x64x64xf32>) -> tensor<2x4x64x64xf32>
  %7 = nn.concat %6, %3 {axis = 1 : i64} : (tensor<2x4x64x64xf32>, tensor<2x4x64x64xf32>) -> tensor<2x8x64x64xf32>
  return %7 : tensor<2x8x64x64xf32>
}
// ----- output
// remark: result 0, which has its place in a concatenation, does not overwrite operand 1: it is an argument
//   --> a_view_of_what_a_part_overwrites_is_copied.mlir:13:8
//    |
// 13 |   %6 = nn.max %5, %y : (tensor<2x1x64x64xf32>, tensor<2x4x64x64xf32>) -> tensor<2x4x64x64xf32>
//    |        ^^^^^^
// remark: result 0, which has its place in a concatenation, does not overwrite operand 0: it is an argument
//  --> a_view_of_what_a_part_overwrites_is_copied.mlir:7:8
//   |
// 7 |   %0 = nn.max %x, %y : tensor<2x4x64x64xf32>
//   |        ^^^^^^
// remark: result 0, which has its place in a concatenation, does not overwrite operand 1: it is an argument
//  --> a_view_of_what_a_part_overwrites_is_copied.mlir:7:8
//   |
// 7 |   %0 = nn.max %x, %y : tensor<2x4x64x64xf32>
//   |        ^^^^^^
// remark: this view is copied: its bytes are overwritten before it is read
//  --> a_view_of_what_a_part_overwrites_is_copied.mlir:8:8
//   |
// 8 |   %1 = nn.transpose %0 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<2x4x64x64xf32>) -> tensor<2x64x64x4xf32>
//   |        ^^^^^^^^^^^^
// module {
//   func.func @main(%arg0: tensor<2x4x64x64xf32>, %arg1: tensor<2x4x64x64xf32>) -> tensor<2x8x64x64xf32> attributes {optc.arena = 166592 : i64, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.constant dense<2.500000e-01> : tensor<1x4x3x3xf32>
//     %1 = nn.max %arg0, %arg1 {mem.kernel = "pointwise", mem.pitch = array<i64: 65536, 131072>, mem.place = [["out", 0, 131072, 65536, 65536, 131072]]} : tensor<2x4x64x64xf32>
//     %2 = nn.transpose %1 {mem.kernel = "copy", mem.place = [["arena", 0, 131072]], permutation = array<i64: 0, 2, 3, 1>} : (tensor<2x4x64x64xf32>) -> tensor<2x64x64x4xf32>
//     %3 = nn.reduce_mean %1 {axes = array<i64: 3>, keepdims, mem.kernel = "reduce", mem.place = [["arena", 131072, 2048]]} : (tensor<2x4x64x64xf32>) -> tensor<2x4x64x1xf32>
//     %4 = nn.mul %1, %3 {mem.kernel = "pointwise", mem.pitch = array<i64: 65536, 131072>, mem.place = [["out", 0, 131072, 65536, 65536, 131072]], mem.tie = array<i64: 0>} : (tensor<2x4x64x64xf32>, tensor<2x4x64x1xf32>) -> tensor<2x4x64x64xf32>
//     %5 = nn.conv2d %2, %0 {layout = "NHWC", mem.kernel = "conv2d", mem.place = [["arena", 131072, 32768], ["arena", 163840, 2752]], mem.scratch = 2752 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<2x64x64x4xf32>, tensor<1x4x3x3xf32>) -> tensor<2x64x64x1xf32>
//     %6 = nn.reshape %5 {mem.kernel = "copy", shape = array<i64: 2, 1, 64, 64>} : (tensor<2x64x64x1xf32>) -> tensor<2x1x64x64xf32>
//     %7 = nn.max %6, %arg1 {mem.kernel = "pointwise", mem.pitch = array<i64: 65536, 131072>, mem.place = [["out", 0, 131072, 0, 65536, 131072]]} : (tensor<2x1x64x64xf32>, tensor<2x4x64x64xf32>) -> tensor<2x4x64x64xf32>
//     %8 = nn.concat %7, %4 {axis = 1 : i64, mem.parts = array<i64: 0, 1>, mem.place = [["out", 0, 262144]]} : (tensor<2x4x64x64xf32>, tensor<2x4x64x64xf32>) -> tensor<2x8x64x64xf32>
//     return %8 : tensor<2x8x64x64xf32>
//   }
// }
