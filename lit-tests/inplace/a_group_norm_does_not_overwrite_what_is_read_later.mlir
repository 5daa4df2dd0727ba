// RUN: optc --passes=inplace
// A group norm can work in place, but not over an operand with a later reader.

func.func @main(%x: tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32> {
  %s = nn.constant dense<0.5> : tensor<8xf32>
  %b = nn.constant dense<0.25> : tensor<8xf32>
  %0 = nn.neg %x : tensor<1x4x4x8xf32>
  %1 = nn.group_norm %0, %s, %b {axis = 3 : i64, axes = array<i64: 1, 2>, groups = 2 : i64} : (tensor<1x4x4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<1x4x4x8xf32>
  %2 = nn.add %1, %0 : tensor<1x4x4x8xf32>
  return %2 : tensor<1x4x4x8xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32> attributes {optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.constant dense<5.000000e-01> : tensor<8xf32>
//     %1 = nn.constant dense<2.500000e-01> : tensor<8xf32>
//     %2 = nn.neg %arg0 {mem.kernel = "pointwise"} : tensor<1x4x4x8xf32>
//     %3 = nn.group_norm %2, %0, %1 {axes = array<i64: 1, 2>, axis = 3 : i64, groups = 2 : i64, mem.kernel = "group_norm", mem.scratch = 192 : i64} : (tensor<1x4x4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<1x4x4x8xf32>
//     %4 = nn.add %3, %2 {mem.kernel = "pointwise", mem.tie = array<i64: 0>} : tensor<1x4x4x8xf32>
//     return %4 : tensor<1x4x4x8xf32>
//   }
// }
