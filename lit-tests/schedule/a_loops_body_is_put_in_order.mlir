// RUN: optc --passes=schedule
// Bodies of loops are scheduled too: the mean moves before the tanh, so %0 dies there and not one step later.

func.func @main(%x: tensor<1x4x4x8xf32>, %n: index) -> tensor<1x1x1x8xf32> {
  %a = arith.constant 0 : index
  %b = arith.constant 1 : index
  %s = nn.reduce_max %x {axes = array<i64: 1, 2>, keepdims} : (tensor<1x4x4x8xf32>) -> tensor<1x1x1x8xf32>
  %r = scf.for %i = %a to %n step %b iter_args(%c = %s) -> (tensor<1x1x1x8xf32>) {
    %0 = nn.mul %x, %c : (tensor<1x4x4x8xf32>, tensor<1x1x1x8xf32>) -> tensor<1x4x4x8xf32>
    %1 = nn.tanh %0 : tensor<1x4x4x8xf32>
    %2 = nn.reduce_mean %0 {axes = array<i64: 1, 2>, keepdims} : (tensor<1x4x4x8xf32>) -> tensor<1x1x1x8xf32>
    %3 = nn.reduce_max %1 {axes = array<i64: 1, 2>, keepdims} : (tensor<1x4x4x8xf32>) -> tensor<1x1x1x8xf32>
    %4 = nn.add %2, %3 : tensor<1x1x1x8xf32>
    scf.yield %4 : tensor<1x1x1x8xf32>
  }
  return %r : tensor<1x1x1x8xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x4x4x8xf32>, %arg1: index) -> tensor<1x1x1x8xf32> attributes {optc.stage = "schedule", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = arith.constant 0 : index
//     %1 = arith.constant 1 : index
//     %2 = nn.reduce_max %arg0 {axes = array<i64: 1, 2>, keepdims, mem.kernel = "reduce"} : (tensor<1x4x4x8xf32>) -> tensor<1x1x1x8xf32>
//     %3 = scf.for %arg2 = %0 to %arg1 step %1 iter_args(%arg3 = %2) -> (tensor<1x1x1x8xf32>) {
//       %4 = nn.mul %arg0, %arg3 {mem.kernel = "pointwise"} : (tensor<1x4x4x8xf32>, tensor<1x1x1x8xf32>) -> tensor<1x4x4x8xf32>
//       %5 = nn.reduce_mean %4 {axes = array<i64: 1, 2>, keepdims, mem.kernel = "reduce"} : (tensor<1x4x4x8xf32>) -> tensor<1x1x1x8xf32>
//       %6 = nn.tanh %4 {mem.kernel = "pointwise"} : tensor<1x4x4x8xf32>
//       %7 = nn.reduce_max %6 {axes = array<i64: 1, 2>, keepdims, mem.kernel = "reduce"} : (tensor<1x4x4x8xf32>) -> tensor<1x1x1x8xf32>
//       %8 = nn.add %5, %7 {mem.kernel = "pointwise"} : tensor<1x1x1x8xf32>
//       scf.yield %8 : tensor<1x1x1x8xf32>
//     }
//     return %3 : tensor<1x1x1x8xf32>
//   }
// }
