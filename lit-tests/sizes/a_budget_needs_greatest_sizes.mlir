// RUN: optc plan --threads=1 --budget=1k
// Without greatest sizes no arena is enough.

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
// error: no arena of 1000 bytes, or of any size, is enough at all sizes: `N` has no upper bound
