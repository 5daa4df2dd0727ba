// RUN: optc --passes=inplace
// Reading in another order is slower than copying once, so a transpose becomes a view only where that lowers
// the peak.

func.func @main(%x: tensor<16x32xf32>, %y: tensor<32x16xf32>) -> tensor<32xf32> {
  %0 = nn.exp %x : tensor<16x32xf32>
  %1 = nn.transpose %0 {permutation = array<i64: 1, 0>} : (tensor<16x32xf32>) -> tensor<32x16xf32>
  %2 = nn.tanh %x : tensor<16x32xf32>
  %3 = nn.reshape %2 {shape = array<i64: 32, 16>} : (tensor<16x32xf32>) -> tensor<32x16xf32>
  %4 = nn.sub %3, %1 : tensor<32x16xf32>
  %5 = nn.reduce_sum %4 {axes = array<i64: 1>} : (tensor<32x16xf32>) -> tensor<32xf32>
  %6 = nn.reduce_max %0 {axes = array<i64: 0>} : (tensor<16x32xf32>) -> tensor<32xf32>
  %7 = nn.add %5, %6 : tensor<32xf32>
  return %7 : tensor<32xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<16x32xf32>, %arg1: tensor<32x16xf32>) -> tensor<32xf32> attributes {optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.exp %arg0 {mem.kernel = "pointwise"} : tensor<16x32xf32>
//     %1 = nn.transpose %0 {mem.view, permutation = array<i64: 1, 0>} : (tensor<16x32xf32>) -> tensor<32x16xf32>
//     %2 = nn.tanh %arg0 {mem.kernel = "pointwise"} : tensor<16x32xf32>
//     %3 = nn.reshape %2 {mem.kernel = "copy", shape = array<i64: 32, 16>} : (tensor<16x32xf32>) -> tensor<32x16xf32>
//     %4 = nn.sub %3, %1 {mem.kernel = "pointwise", mem.tie = array<i64: 0>} : tensor<32x16xf32>
//     %5 = nn.reduce_sum %4 {axes = array<i64: 1>, mem.kernel = "reduce"} : (tensor<32x16xf32>) -> tensor<32xf32>
//     %6 = nn.reduce_max %0 {axes = array<i64: 0>, mem.kernel = "reduce"} : (tensor<16x32xf32>) -> tensor<32xf32>
//     %7 = nn.add %5, %6 {mem.kernel = "pointwise", mem.tie = array<i64: 0>} : tensor<32xf32>
//     return %7 : tensor<32xf32>
//   }
// }
