// RUN: optc --passes=plan
// The pass `inplace` did not say whether the slice needs a copy, so `plan` must: as a view of `%0`, which has
// more bytes, it cannot have the caller's buffer.

func.func @main(%x: tensor<?x4xf32, #optc.dims<N>>) -> (tensor<3x4xf32>, tensor<?x4xf32, #optc.dims<N>>) attributes {optc.dims = {N = [8, 40]}} {
  %0 = nn.relu %x : tensor<?x4xf32, #optc.dims<N>>
  %1 = nn.slice %0 {starts = array<i64: 1, 0>, sizes = array<i64: 3, 4>} : (tensor<?x4xf32, #optc.dims<N>>) -> tensor<3x4xf32>
  %2 = nn.tanh %0 : tensor<?x4xf32, #optc.dims<N>>
  return %1, %2 : tensor<3x4xf32>, tensor<?x4xf32, #optc.dims<N>>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<?x4xf32, #optc.dims<N>>) -> (tensor<3x4xf32>, tensor<?x4xf32, #optc.dims<N>>) attributes {optc.buffers = [[0, 2, #optc.dims<16 * N>]], optc.dims = {N = [8, 40]}, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.relu %arg0 {mem.buffer = [0]} : tensor<?x4xf32, #optc.dims<N>>
//     %1 = nn.slice %0 {mem.view, sizes = array<i64: 3, 4>, starts = array<i64: 1, 0>} : (tensor<?x4xf32, #optc.dims<N>>) -> tensor<3x4xf32>
//     %2 = nn.tanh %0 {mem.buffer = [["out", 1]]} : tensor<?x4xf32, #optc.dims<N>>
//     %3 = optc.copy %1 {mem.buffer = [["out", 0]]} : tensor<3x4xf32>
//     return %3, %2 : tensor<3x4xf32>, tensor<?x4xf32, #optc.dims<N>>
//   }
// }
