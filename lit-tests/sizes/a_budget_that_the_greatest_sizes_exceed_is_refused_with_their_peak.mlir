// RUN: optc plan --threads=1 --budget=500 --dim 'N<=64'
// At the greatest size a row of 64 numbers is live, and a strip of as many: 512 bytes.

func.func @main(%x: tensor<?xf32, #optc.dims<N>>, %y: tensor<?xf32, #optc.dims<N>>) -> tensor<f32> {
  %0 = nn.exp %x : tensor<?xf32, #optc.dims<N>>
  %1 = nn.tanh %y : tensor<?xf32, #optc.dims<N>>
  %2 = nn.reduce_sum %0 {axes = array<i64: 0>} : (tensor<?xf32, #optc.dims<N>>) -> tensor<f32>
  %3 = nn.mul %1, %2 : (tensor<?xf32, #optc.dims<N>>, tensor<f32>) -> tensor<?xf32, #optc.dims<N>>
  %4 = nn.add %3, %0 : tensor<?xf32, #optc.dims<N>>
  %5 = nn.reduce_max %4 {axes = array<i64: 0>} : (tensor<?xf32, #optc.dims<N>>) -> tensor<f32>
  return %5 : tensor<f32>
}
// ----- output
// error: the arena for all sizes does not fit the budget of 500 bytes: it has 512, with its peak at N = 64
//  --> a_budget_that_the_greatest_sizes_exceed_is_refused_with_their_peak.mlir:9:8
//   |
// 9 |   %4 = nn.add %3, %0 : tensor<?xf32, #optc.dims<N>>
//   |        ^^^^^^
//   |
//   = note: a_budget_that_the_greatest_sizes_exceed_is_refused_with_their_peak.mlir:9:8: 512 bytes are live at the peak, `nn.add`:
//   = note: a_budget_that_the_greatest_sizes_exceed_is_refused_with_their_peak.mlir:5:8: 256 bytes: `nn.exp`
//   = note: a_budget_that_the_greatest_sizes_exceed_is_refused_with_their_peak.mlir:9:8: 256 bytes: scratch of `nn.add`
