// RUN: optc --passes=inplace
// Both concatenations begin with the same operands, but along different axes: neither lies inside the other.

func.func @main(%x: tensor<2x4xf32>) -> (tensor<2x8xf32>, tensor<6x4xf32>) {
  %0 = nn.exp %x : tensor<2x4xf32>
  %1 = nn.tanh %x : tensor<2x4xf32>
  %2 = nn.concat %0, %1 {axis = 1 : i64} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x8xf32>
  %3 = nn.neg %2 : tensor<2x8xf32>
  %4 = nn.abs %x : tensor<2x4xf32>
  %5 = nn.concat %0, %1, %4 {axis = 0 : i64} : (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<6x4xf32>
  %6 = nn.neg %5 : tensor<6x4xf32>
  return %3, %6 : tensor<2x8xf32>, tensor<6x4xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<2x4xf32>) -> (tensor<2x8xf32>, tensor<6x4xf32>) attributes {optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.exp %arg0 {mem.kernel = "pointwise"} : tensor<2x4xf32>
//     %1 = nn.tanh %arg0 {mem.kernel = "pointwise"} : tensor<2x4xf32>
//     %2 = nn.concat %0, %1 {axis = 1 : i64, mem.kernel = "copy"} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x8xf32>
//     %3 = nn.neg %2 {mem.kernel = "pointwise", mem.tie = array<i64: 0>} : tensor<2x8xf32>
//     %4 = nn.abs %arg0 {mem.kernel = "pointwise"} : tensor<2x4xf32>
//     %5 = nn.concat %0, %1, %4 {axis = 0 : i64, mem.parts = array<i64: 0, 1, 2>} : (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<6x4xf32>
//     %6 = nn.neg %5 {mem.kernel = "pointwise", mem.tie = array<i64: 0>} : tensor<6x4xf32>
//     return %3, %6 : tensor<2x8xf32>, tensor<6x4xf32>
//   }
// }
