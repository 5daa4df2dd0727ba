// RUN: optc plan --threads=1 --budget=1K --dim 'N<=64'
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
// sizes 1 <= N <= 64: offsets are computed for each size; `--dim N=4` plans for one
// buffer 0: 4 * N bytes, steps 0 to 3; %0 %2 of `nn.exp`
// buffer 1: 256 bytes, steps 2 to 2; scratch of `optc.group`
// at N = 64: arena 512 bytes
// at all sizes: arena 512 bytes, the joint maximum
