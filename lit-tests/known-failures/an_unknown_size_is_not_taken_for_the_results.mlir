// RUN: optc --passes=inplace --remarks=inplace
// Two unknown sizes are not equal because both are printed as `?`. Only the known sizes allow the reuse.

func.func @one_or_eight_rows(%x: tensor<?x4xf32>, %y: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = nn.exp %x : tensor<?x4xf32>
  %1 = nn.add %0, %y : (tensor<?x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}

func.func @two_unknown_sizes(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = nn.exp %x : tensor<?x4xf32>
  %1 = nn.exp %y : tensor<?x4xf32>
  %2 = nn.add %0, %1 : tensor<?x4xf32>
  return %2 : tensor<?x4xf32>
}

func.func @known_sizes(%x: tensor<8x4xf32>, %y: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = nn.exp %x : tensor<8x4xf32>
  %1 = nn.add %0, %y : tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}
// ----- output
// remark: result 0 does not overwrite operand 1: it is an input that the caller keeps
//  --> an_unknown_size_is_not_taken_for_the_results.mlir:6:8
//   |
// 6 |   %1 = nn.add %0, %y : (tensor<?x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
//   |        ^^^^^^
// remark: result 0 does not overwrite operand 0: it is an input that the caller keeps
//   --> an_unknown_size_is_not_taken_for_the_results.mlir:18:8
//    |
// 18 |   %0 = nn.exp %x : tensor<8x4xf32>
//    |        ^^^^^^
// module {
//   func.func @one_or_eight_rows(%arg0: tensor<?x4xf32>, %arg1: tensor<8x4xf32>) -> tensor<8x4xf32> attributes {optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.exp %arg0 : tensor<?x4xf32>
//     %1 = nn.add %0, %arg1 : (tensor<?x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
//     return %1 : tensor<8x4xf32>
//   }
//   func.func @two_unknown_sizes(%arg0: tensor<?x4xf32>, %arg1: tensor<?x4xf32>) -> tensor<?x4xf32> attributes {optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.exp %arg0 : tensor<?x4xf32>
//     %1 = nn.exp %arg1 : tensor<?x4xf32>
//     %2 = nn.add %0, %1 : tensor<?x4xf32>
//     return %2 : tensor<?x4xf32>
//   }
//   func.func @known_sizes(%arg0: tensor<8x4xf32>, %arg1: tensor<8x4xf32>) -> tensor<8x4xf32> attributes {optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.exp %arg0 {mem.kernel = "pointwise"} : tensor<8x4xf32>
//     %1 = nn.add %0, %arg1 {mem.kernel = "pointwise", mem.tie = array<i64: 0>} : tensor<8x4xf32>
//     return %1 : tensor<8x4xf32>
//   }
// }
