// RUN: optc --passes=select --remarks=select
// What generated code computes one element at a time is named with its reason; the same functions of floats
// are computed on vectors, and have no remark.

func.func @main(%x: tensor<64xi32>, %y: tensor<64xi32>, %a: tensor<8x6x8xf32>, %b: tensor<64xi64>) -> (tensor<64xi32>, tensor<64xi64>, tensor<8x6x8xf32>, tensor<6xf32>, tensor<1xi64>, tensor<6x8xf32>) {
  %0 = nn.div %x, %y : tensor<64xi32>
  %1 = nn.add %b, %b : tensor<64xi64>
  %2 = nn.pow %a, %a : tensor<8x6x8xf32>
  %3 = nn.reduce_sum %a {axes = array<i64: 0, 2>} : (tensor<8x6x8xf32>) -> tensor<6xf32>
  %4 = nn.reduce_sum %b {axes = array<i64: 0>, keepdims} : (tensor<64xi64>) -> tensor<1xi64>
  %5 = nn.reduce_sum %a {axes = array<i64: 0>} : (tensor<8x6x8xf32>) -> tensor<6x8xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<64xi32>, tensor<64xi64>, tensor<8x6x8xf32>, tensor<6xf32>, tensor<1xi64>, tensor<6x8xf32>
}
// ----- output
// remark: its elements are computed one by one: vectors have no form for div of `i32`
//  --> slow_steps_have_a_remark.mlir:6:8
//   |
// 6 |   %0 = nn.div %x, %y : tensor<64xi32>
//   |        ^^^^^^
// remark: its elements are computed one by one: vectors have no form for add of `i64`
//  --> slow_steps_have_a_remark.mlir:7:8
//   |
// 7 |   %1 = nn.add %b, %b : tensor<64xi64>
//   |        ^^^^^^
// remark: its elements are folded one by one: only `f32` is folded by vectors, not `i64`
//   --> slow_steps_have_a_remark.mlir:10:8
//    |
// 10 |   %4 = nn.reduce_sum %b {axes = array<i64: 0>, keepdims} : (tensor<64xi64>) -> tensor<1xi64>
//    |        ^^^^^^^^^^^^^
// module {
//   func.func @main(%arg0: tensor<64xi32>, %arg1: tensor<64xi32>, %arg2: tensor<8x6x8xf32>, %arg3: tensor<64xi64>) -> (tensor<64xi32>, tensor<64xi64>, tensor<8x6x8xf32>, tensor<6xf32>, tensor<1xi64>, tensor<6x8xf32>) attributes {optc.stage = "select", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.div %arg0, %arg1 {mem.kernel = "pointwise"} : tensor<64xi32>
//     %1 = nn.add %arg3, %arg3 {mem.kernel = "pointwise"} : tensor<64xi64>
//     %2 = nn.pow %arg2, %arg2 {mem.kernel = "pointwise"} : tensor<8x6x8xf32>
//     %3 = nn.reduce_sum %arg2 {axes = array<i64: 0, 2>, mem.kernel = "reduce"} : (tensor<8x6x8xf32>) -> tensor<6xf32>
//     %4 = nn.reduce_sum %arg3 {axes = array<i64: 0>, keepdims, mem.kernel = "reduce"} : (tensor<64xi64>) -> tensor<1xi64>
//     %5 = nn.reduce_sum %arg2 {axes = array<i64: 0>, mem.kernel = "reduce"} : (tensor<8x6x8xf32>) -> tensor<6x8xf32>
//     return %0, %1, %2, %3, %4, %5 : tensor<64xi32>, tensor<64xi64>, tensor<8x6x8xf32>, tensor<6xf32>, tensor<1xi64>, tensor<6x8xf32>
//   }
// }
