// RUN: optc --passes=fuse,inplace --remarks=inplace
// An operand that is written into its concatenation obeys the same rule as any other: it never overwrites a
// value with a later reader.

func.func @main(%x: tensor<1x6x6x8xf32>) -> tensor<1x6x6x24xf32> {
  %w = nn.constant dense<0.5> : tensor<8x8x3x3xf32>
  %0 = nn.conv2d %x, %w {layout = "NHWC", pads = array<i64: 1, 1, 1, 1>} : (tensor<1x6x6x8xf32>, tensor<8x8x3x3xf32>) -> tensor<1x6x6x8xf32>
  %1 = nn.conv2d %0, %w {layout = "NHWC", pads = array<i64: 1, 1, 1, 1>} : (tensor<1x6x6x8xf32>, tensor<8x8x3x3xf32>) -> tensor<1x6x6x8xf32>
  %2 = nn.conv2d %1, %w {layout = "NHWC", pads = array<i64: 1, 1, 1, 1>} : (tensor<1x6x6x8xf32>, tensor<8x8x3x3xf32>) -> tensor<1x6x6x8xf32>
  %3 = nn.add %2, %0 : tensor<1x6x6x8xf32>
  %4 = nn.softmax %0 {axis = 3 : i64} : tensor<1x6x6x8xf32>
  %5 = nn.add %3, %x : tensor<1x6x6x8xf32>
  %6 = nn.softmax %5 {axis = 3 : i64} : tensor<1x6x6x8xf32>
  %7 = nn.concat %3, %4, %6 {axis = 3 : i64} : (tensor<1x6x6x8xf32>, tensor<1x6x6x8xf32>, tensor<1x6x6x8xf32>) -> tensor<1x6x6x24xf32>
  return %7 : tensor<1x6x6x24xf32>
}
// ----- output
// remark: result 0, which has its place in a concatenation, does not overwrite operand 2: its bytes are read later
//  --> a_part_does_not_overwrite_a_residual_that_is_read_later.mlir:9:8
//   |
// 9 |   %2 = nn.conv2d %1, %w {layout = "NHWC", pads = array<i64: 1, 1, 1, 1>} : (tensor<1x6x6x8xf32>, tensor<8x8x3x3xf32>) -> tensor<1x6x6...
//   |        ^^^^^^^^^
//   |
//   = note: a_part_does_not_overwrite_a_residual_that_is_read_later.mlir:11:8: it is read here
// remark: operand 1 is copied to its place in the result: `nn.softmax` does not write it in rows
//   --> a_part_does_not_overwrite_a_residual_that_is_read_later.mlir:14:8
//    |
// 14 |   %7 = nn.concat %3, %4, %6 {axis = 3 : i64} : (tensor<1x6x6x8xf32>, tensor<1x6x6x8xf32>, tensor<1x6x6x8xf32>) -> tensor<1x6x6x24xf32>
//    |        ^^^^^^^^^
// remark: operand 2 is copied to its place in the result: `nn.softmax` does not write it in rows
//   --> a_part_does_not_overwrite_a_residual_that_is_read_later.mlir:14:8
//    |
// 14 |   %7 = nn.concat %3, %4, %6 {axis = 3 : i64} : (tensor<1x6x6x8xf32>, tensor<1x6x6x8xf32>, tensor<1x6x6x8xf32>) -> tensor<1x6x6x24xf32>
//    |        ^^^^^^^^^
// remark: result 0 does not overwrite operand 0: its bytes are read later
//   --> a_part_does_not_overwrite_a_residual_that_is_read_later.mlir:12:8
//    |
// 12 |   %5 = nn.add %3, %x : tensor<1x6x6x8xf32>
//    |        ^^^^^^
//    |
//    = note: a_part_does_not_overwrite_a_residual_that_is_read_later.mlir:15:3: it is read here
// remark: result 0 does not overwrite operand 1: it is an input that the caller keeps
//   --> a_part_does_not_overwrite_a_residual_that_is_read_later.mlir:12:8
//    |
// 12 |   %5 = nn.add %3, %x : tensor<1x6x6x8xf32>
//    |        ^^^^^^
// module {
//   func.func @main(%arg0: tensor<1x6x6x8xf32>) -> tensor<1x6x6x24xf32> attributes {optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.constant dense<5.000000e-01> : tensor<8x8x3x3xf32>
//     %1 = nn.conv2d %arg0, %0 {layout = "NHWC", mem.kernel = "conv2d", mem.scratch = 11584 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x6x6x8xf32>, tensor<8x8x3x3xf32>) -> tensor<1x6x6x8xf32>
//     %2 = nn.conv2d %1, %0 {layout = "NHWC", mem.kernel = "conv2d", mem.scratch = 11584 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x6x6x8xf32>, tensor<8x8x3x3xf32>) -> tensor<1x6x6x8xf32>
//     %3 = optc.group(%arg1 = %2, %arg2 = %0, %arg3 = %1) {mem.kernel = "conv2d", mem.pitch = array<i64: 32, 96>, mem.scratch = 11584 : i64} : (tensor<1x6x6x8xf32>, tensor<8x8x3x3xf32>, tensor<1x6x6x8xf32>) -> tensor<1x6x6x8xf32> {
//       %8 = nn.conv2d %arg1, %arg2 {layout = "NHWC", pads = array<i64: 1, 1, 1, 1>} : (tensor<1x6x6x8xf32>, tensor<8x8x3x3xf32>) -> tensor<1x6x6x8xf32>
//       %9 = nn.add %8, %arg3 : tensor<1x6x6x8xf32>
//       optc.yield %9 : tensor<1x6x6x8xf32>
//     }
//     %4 = nn.softmax %1 {axis = 3 : i64, mem.kernel = "softmax", mem.tie = array<i64: 0>} : tensor<1x6x6x8xf32>
//     %5 = nn.add %3, %arg0 {mem.kernel = "pointwise"} : tensor<1x6x6x8xf32>
//     %6 = nn.softmax %5 {axis = 3 : i64, mem.kernel = "softmax", mem.tie = array<i64: 0>} : tensor<1x6x6x8xf32>
//     %7 = nn.concat %3, %4, %6 {axis = 3 : i64, mem.kernel = "copy", mem.parts = array<i64: 0>} : (tensor<1x6x6x8xf32>, tensor<1x6x6x8xf32>, tensor<1x6x6x8xf32>) -> tensor<1x6x6x24xf32>
//     return %7 : tensor<1x6x6x24xf32>
//   }
// }
