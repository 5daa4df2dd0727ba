// RUN: optc --passes=variants,plan
// The transpose is a copy in `main`, and no step in the variant. All sizes of the variant are known, so its
// values have places, where those of `main` have buffers.

func.func @main(%x: tensor<?x4x8xf32, #optc.dims<N>>) -> tensor<4x?x8xf32, #optc.dims<N>> attributes {optc.dims = {N = [1, 64]}} {
  %0 = nn.exp %x : tensor<?x4x8xf32, #optc.dims<N>>
  %1 = nn.transpose %0 {permutation = array<i64: 1, 0, 2>} : (tensor<?x4x8xf32, #optc.dims<N>>) -> tensor<4x?x8xf32, #optc.dims<N>>
  %2 = nn.cum_sum %1 {axis = 0} : tensor<4x?x8xf32, #optc.dims<N>>
  return %2 : tensor<4x?x8xf32, #optc.dims<N>>
}
// ----- output
// module {
//   func.func private @main_at_N_1(%arg0: tensor<1x4x8xf32>) -> tensor<4x1x8xf32> attributes {optc.arena = 128 : i64, optc.guard = {N = 1 : i64}, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.exp %arg0 {mem.kernel = "pointwise", mem.place = [["arena", 0, 128]]} : tensor<1x4x8xf32>
//     %1 = nn.reshape %0 {mem.kernel = "copy", shape = array<i64: 4, 1, 8>} : (tensor<1x4x8xf32>) -> tensor<4x1x8xf32>
//     %2 = nn.cum_sum %1 {axis = 0 : i64, mem.kernel = "cumulate", mem.place = [["out", 0, 128]]} : tensor<4x1x8xf32>
//     return %2 : tensor<4x1x8xf32>
//   }
//   func.func @main(%arg0: tensor<?x4x8xf32, #optc.dims<N>>) -> tensor<4x?x8xf32, #optc.dims<N>> attributes {optc.buffers = [[1, 2, #optc.dims<128 * N>]], optc.dims = {N = [1, 64]}, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64, optc.variants = [@main_at_N_1]} {
//     %0 = nn.exp %arg0 {mem.buffer = [["out", 0]]} : tensor<?x4x8xf32, #optc.dims<N>>
//     %1 = nn.transpose %0 {mem.buffer = [0], mem.copy, permutation = array<i64: 1, 0, 2>} : (tensor<?x4x8xf32, #optc.dims<N>>) -> tensor<4x?x8xf32, #optc.dims<N>>
//     %2 = nn.cum_sum %1 {axis = 0 : i64, mem.buffer = [["out", 0]]} : tensor<4x?x8xf32, #optc.dims<N>>
//     return %2 : tensor<4x?x8xf32, #optc.dims<N>>
//   }
// }
