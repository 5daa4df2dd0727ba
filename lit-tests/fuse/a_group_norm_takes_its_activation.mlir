// RUN: optc --passes=fuse,inplace
// The activation joins the group norm, which can still overwrite its dying operand. Fusion must not cost that
// reuse.

func.func @main(%x: tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32> {
  %s = nn.constant dense<0.5> : tensor<8xf32>
  %b = nn.constant dense<0.25> : tensor<8xf32>
  %0 = nn.neg %x : tensor<1x4x4x8xf32>
  %1 = nn.group_norm %0, %s, %b {axis = 3 : i64, axes = array<i64: 1, 2>, groups = 2 : i64} : (tensor<1x4x4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<1x4x4x8xf32>
  %2 = nn.silu %1 : tensor<1x4x4x8xf32>
  %3 = nn.add %2, %x : tensor<1x4x4x8xf32>
  return %3 : tensor<1x4x4x8xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32> attributes {optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.constant dense<5.000000e-01> : tensor<8xf32>
//     %1 = nn.constant dense<2.500000e-01> : tensor<8xf32>
//     %2 = nn.neg %arg0 {mem.kernel = "pointwise"} : tensor<1x4x4x8xf32>
//     %3 = optc.group(%arg1 = %2, %arg2 = %0, %arg3 = %1) {mem.kernel = "group_norm", mem.scratch = 192 : i64, mem.tie = array<i64: 0>} : (tensor<1x4x4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<1x4x4x8xf32> {
//       %5 = nn.group_norm %arg1, %arg2, %arg3 {axes = array<i64: 1, 2>, axis = 3 : i64, groups = 2 : i64} : (tensor<1x4x4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<1x4x4x8xf32>
//       %6 = nn.silu %5 : tensor<1x4x4x8xf32>
//       optc.yield %6 : tensor<1x4x4x8xf32>
//     }
//     %4 = nn.add %3, %arg0 {mem.kernel = "pointwise", mem.tie = array<i64: 0>} : tensor<1x4x4x8xf32>
//     return %4 : tensor<1x4x4x8xf32>
//   }
// }
