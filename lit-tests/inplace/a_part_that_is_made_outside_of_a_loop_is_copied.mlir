// RUN: optc --passes=inplace --remarks=inplace
// Made at its place in the result, it would be there in the first iteration only: the buffer of the result
// holds other values until the next.

func.func @main(%x: tensor<4x8xf32>) -> tensor<8x8xf32> {
  %n = arith.constant 3 : index
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %0 = nn.exp %x : tensor<4x8xf32>
  %start = nn.constant dense<0.0> : tensor<8x8xf32>
  %r = scf.for %i = %zero to %n step %one iter_args(%a = %start) -> (tensor<8x8xf32>) {
    %1 = nn.neg %x : tensor<4x8xf32>
    %2 = nn.concat %0, %1 {axis = 0} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
    %3 = nn.add %2, %a : tensor<8x8xf32>
    scf.yield %3 : tensor<8x8xf32>
  }
  return %r : tensor<8x8xf32>
}
// ----- output
// remark: operand 0 is copied to its place in the result: it is made elsewhere
//   --> a_part_that_is_made_outside_of_a_loop_is_copied.mlir:13:10
//    |
// 13 |     %2 = nn.concat %0, %1 {axis = 0} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
//    |          ^^^^^^^^^
// remark: result 0, which has its place in a concatenation, does not overwrite operand 0: it is an argument
//   --> a_part_that_is_made_outside_of_a_loop_is_copied.mlir:12:10
//    |
// 12 |     %1 = nn.neg %x : tensor<4x8xf32>
//    |          ^^^^^^
// remark: result 0 does not overwrite operand 0: it is an input that the caller keeps
//  --> a_part_that_is_made_outside_of_a_loop_is_copied.mlir:9:8
//   |
// 9 |   %0 = nn.exp %x : tensor<4x8xf32>
//   |        ^^^^^^
// module {
//   func.func @main(%arg0: tensor<4x8xf32>) -> tensor<8x8xf32> attributes {optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = arith.constant 3 : index
//     %1 = arith.constant 0 : index
//     %2 = arith.constant 1 : index
//     %3 = nn.exp %arg0 {mem.kernel = "pointwise"} : tensor<4x8xf32>
//     %4 = nn.constant dense<0.000000e+00> : tensor<8x8xf32>
//     %5 = scf.for %arg1 = %1 to %0 step %2 iter_args(%arg2 = %4) -> (tensor<8x8xf32>) {
//       %6 = nn.neg %arg0 {mem.kernel = "pointwise"} : tensor<4x8xf32>
//       %7 = nn.concat %3, %6 {axis = 0 : i64, mem.kernel = "copy", mem.parts = array<i64: 1>} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
//       %8 = nn.add %7, %arg2 {mem.kernel = "pointwise", mem.tie = array<i64: 0>} : tensor<8x8xf32>
//       scf.yield %8 : tensor<8x8xf32>
//     }
//     return %5 : tensor<8x8xf32>
//   }
// }
