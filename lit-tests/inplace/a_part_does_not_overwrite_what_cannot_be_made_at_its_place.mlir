// RUN: optc --passes=inplace --remarks=inplace
// An in-place operand of a concatenation can reuse only a value that can lie at that place too. Each refusal
// has its remark.

func.func @main(%x: tensor<2x3xf32>, %y: tensor<4x3xf32>) -> tensor<2x12xf32> {
  %w = nn.constant dense<0.5> : tensor<2x3xf32>
  %0 = nn.softmax %x {axis = 1 : i64} : tensor<2x3xf32>
  %1 = nn.neg %0 : tensor<2x3xf32>
  %2 = nn.add %x, %w : tensor<2x3xf32>
  %3 = nn.neg %2 : tensor<2x3xf32>
  %4 = nn.abs %y : tensor<4x3xf32>
  %5 = nn.slice %4 {starts = array<i64: 1, 0>, sizes = array<i64: 2, 3>} : (tensor<4x3xf32>) -> tensor<2x3xf32>
  %6 = nn.neg %5 : tensor<2x3xf32>
  %7 = nn.concat %1, %2, %3, %6 {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x12xf32>
  %8 = nn.neg %7 : tensor<2x12xf32>
  return %8 : tensor<2x12xf32>
}
// ----- output
// remark: result 0, which has its place in a concatenation, does not overwrite operand 0: `nn.softmax` does not write it in rows
//  --> a_part_does_not_overwrite_what_cannot_be_made_at_its_place.mlir:8:8
//   |
// 8 |   %1 = nn.neg %0 : tensor<2x3xf32>
//   |        ^^^^^^
// remark: result 0, which has its place in a concatenation, does not overwrite operand 0: it is an argument
//  --> a_part_does_not_overwrite_what_cannot_be_made_at_its_place.mlir:9:8
//   |
// 9 |   %2 = nn.add %x, %w : tensor<2x3xf32>
//   |        ^^^^^^
// remark: result 0, which has its place in a concatenation, does not overwrite operand 1: it is a weight
//  --> a_part_does_not_overwrite_what_cannot_be_made_at_its_place.mlir:9:8
//   |
// 9 |   %2 = nn.add %x, %w : tensor<2x3xf32>
//   |        ^^^^^^
// remark: result 0, which has its place in a concatenation, does not overwrite operand 0: it has its own place in a concatenation
//   --> a_part_does_not_overwrite_what_cannot_be_made_at_its_place.mlir:10:8
//    |
// 10 |   %3 = nn.neg %2 : tensor<2x3xf32>
//    |        ^^^^^^
// remark: result 0, which has its place in a concatenation, does not overwrite operand 0: it is not a whole value of as many bytes
//   --> a_part_does_not_overwrite_what_cannot_be_made_at_its_place.mlir:13:8
//    |
// 13 |   %6 = nn.neg %5 : tensor<2x3xf32>
//    |        ^^^^^^
// remark: result 0 does not overwrite operand 0: it is an input that the caller keeps
//  --> a_part_does_not_overwrite_what_cannot_be_made_at_its_place.mlir:7:8
//   |
// 7 |   %0 = nn.softmax %x {axis = 1 : i64} : tensor<2x3xf32>
//   |        ^^^^^^^^^^
// remark: result 0 does not overwrite operand 0: it is an input that the caller keeps
//   --> a_part_does_not_overwrite_what_cannot_be_made_at_its_place.mlir:11:8
//    |
// 11 |   %4 = nn.abs %y : tensor<4x3xf32>
//    |        ^^^^^^
// module {
//   func.func @main(%arg0: tensor<2x3xf32>, %arg1: tensor<4x3xf32>) -> tensor<2x12xf32> attributes {optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.constant dense<5.000000e-01> : tensor<2x3xf32>
//     %1 = nn.softmax %arg0 {axis = 1 : i64, mem.kernel = "softmax"} : tensor<2x3xf32>
//     %2 = nn.neg %1 {mem.kernel = "pointwise", mem.pitch = array<i64: 12, 48>} : tensor<2x3xf32>
//     %3 = nn.add %arg0, %0 {mem.kernel = "pointwise", mem.pitch = array<i64: 12, 48>} : tensor<2x3xf32>
//     %4 = nn.neg %3 {mem.kernel = "pointwise", mem.pitch = array<i64: 12, 48>} : tensor<2x3xf32>
//     %5 = nn.abs %arg1 {mem.kernel = "pointwise"} : tensor<4x3xf32>
//     %6 = nn.slice %5 {mem.kernel = "copy", sizes = array<i64: 2, 3>, starts = array<i64: 1, 0>} : (tensor<4x3xf32>) -> tensor<2x3xf32>
//     %7 = nn.neg %6 {mem.kernel = "pointwise", mem.pitch = array<i64: 12, 48>} : tensor<2x3xf32>
//     %8 = nn.concat %2, %3, %4, %7 {axis = 1 : i64, mem.parts = array<i64: 0, 1, 2, 3>} : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x12xf32>
//     %9 = nn.neg %8 {mem.kernel = "pointwise", mem.tie = array<i64: 0>} : tensor<2x12xf32>
//     return %9 : tensor<2x12xf32>
//   }
// }
