// RUN: optc --passes=inplace --remarks=inplace
// Whether a view may be overwritten depends on the readers of its root, however many views stand between. A
// later read through the first name forbids it.

func.func @dies(%x: tensor<4x8xf32>, %y: tensor<2x16xf32>) -> tensor<2x16xf32> {
  %0 = nn.exp %x : tensor<4x8xf32>
  %1 = nn.reshape %0 {shape = array<i64: 32>} : (tensor<4x8xf32>) -> tensor<32xf32>
  %2 = nn.reshape %1 {shape = array<i64: 1, 32>} : (tensor<32xf32>) -> tensor<1x32xf32>
  %3 = nn.transpose %2 {permutation = array<i64: 1, 0>} : (tensor<1x32xf32>) -> tensor<32x1xf32>
  %4 = nn.reshape %3 {shape = array<i64: 2, 16>} : (tensor<32x1xf32>) -> tensor<2x16xf32>
  %5 = nn.mul %4, %y : tensor<2x16xf32>
  return %5 : tensor<2x16xf32>
}

func.func @is_read_by_its_first_name(%x: tensor<4x8xf32>, %y: tensor<2x16xf32>) -> (tensor<2x16xf32>, tensor<4x8xf32>) {
  %0 = nn.exp %x : tensor<4x8xf32>
  %1 = nn.reshape %0 {shape = array<i64: 32>} : (tensor<4x8xf32>) -> tensor<32xf32>
  %2 = nn.reshape %1 {shape = array<i64: 1, 32>} : (tensor<32xf32>) -> tensor<1x32xf32>
  %3 = nn.transpose %2 {permutation = array<i64: 1, 0>} : (tensor<1x32xf32>) -> tensor<32x1xf32>
  %4 = nn.reshape %3 {shape = array<i64: 2, 16>} : (tensor<32x1xf32>) -> tensor<2x16xf32>
  %5 = nn.mul %4, %y : tensor<2x16xf32>
  %6 = nn.tanh %0 : tensor<4x8xf32>
  return %5, %6 : tensor<2x16xf32>, tensor<4x8xf32>
}
// ----- output
// remark: result 0 does not overwrite operand 0: it is an input that the caller keeps
//  --> a_chain_of_views_is_walked_to_its_root.mlir:6:8
//   |
// 6 |   %0 = nn.exp %x : tensor<4x8xf32>
//   |        ^^^^^^
// remark: result 0 does not overwrite operand 0: it is an input that the caller keeps
//   --> a_chain_of_views_is_walked_to_its_root.mlir:16:8
//    |
// 16 |   %0 = nn.exp %x : tensor<4x8xf32>
//    |        ^^^^^^
// remark: result 0 does not overwrite operand 0: its bytes are read later
//   --> a_chain_of_views_is_walked_to_its_root.mlir:21:8
//    |
// 21 |   %5 = nn.mul %4, %y : tensor<2x16xf32>
//    |        ^^^^^^
//    |
//    = note: a_chain_of_views_is_walked_to_its_root.mlir:22:8: it is read here
// remark: result 0 does not overwrite operand 1: it is an input that the caller keeps
//   --> a_chain_of_views_is_walked_to_its_root.mlir:21:8
//    |
// 21 |   %5 = nn.mul %4, %y : tensor<2x16xf32>
//    |        ^^^^^^
// module {
//   func.func @dies(%arg0: tensor<4x8xf32>, %arg1: tensor<2x16xf32>) -> tensor<2x16xf32> attributes {optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.exp %arg0 {mem.kernel = "pointwise"} : tensor<4x8xf32>
//     %1 = nn.reshape %0 {mem.kernel = "copy", shape = array<i64: 32>} : (tensor<4x8xf32>) -> tensor<32xf32>
//     %2 = nn.reshape %1 {mem.kernel = "copy", shape = array<i64: 1, 32>} : (tensor<32xf32>) -> tensor<1x32xf32>
//     %3 = nn.reshape %2 {mem.kernel = "copy", shape = array<i64: 32, 1>} : (tensor<1x32xf32>) -> tensor<32x1xf32>
//     %4 = nn.reshape %3 {mem.kernel = "copy", shape = array<i64: 2, 16>} : (tensor<32x1xf32>) -> tensor<2x16xf32>
//     %5 = nn.mul %4, %arg1 {mem.kernel = "pointwise", mem.tie = array<i64: 0>} : tensor<2x16xf32>
//     return %5 : tensor<2x16xf32>
//   }
//   func.func @is_read_by_its_first_name(%arg0: tensor<4x8xf32>, %arg1: tensor<2x16xf32>) -> (tensor<2x16xf32>, tensor<4x8xf32>) attributes {optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.exp %arg0 {mem.kernel = "pointwise"} : tensor<4x8xf32>
//     %1 = nn.reshape %0 {mem.kernel = "copy", shape = array<i64: 32>} : (tensor<4x8xf32>) -> tensor<32xf32>
//     %2 = nn.reshape %1 {mem.kernel = "copy", shape = array<i64: 1, 32>} : (tensor<32xf32>) -> tensor<1x32xf32>
//     %3 = nn.reshape %2 {mem.kernel = "copy", shape = array<i64: 32, 1>} : (tensor<1x32xf32>) -> tensor<32x1xf32>
//     %4 = nn.reshape %3 {mem.kernel = "copy", shape = array<i64: 2, 16>} : (tensor<32x1xf32>) -> tensor<2x16xf32>
//     %5 = nn.mul %4, %arg1 {mem.kernel = "pointwise"} : tensor<2x16xf32>
//     %6 = nn.tanh %0 {mem.kernel = "pointwise", mem.tie = array<i64: 0>} : tensor<4x8xf32>
//     return %5, %6 : tensor<2x16xf32>, tensor<4x8xf32>
//   }
// }
