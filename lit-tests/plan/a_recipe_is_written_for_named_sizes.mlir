// RUN: optc --passes=plan
// Live ranges do not depend on sizes, and bytes are expressions of them. The tanh overwrites its dying
// operand, so both are buffer 0; the smaller sum has its own.

func.func @main(%x: tensor<?x?xf32, #optc.dims<N, 2 * H>>) -> tensor<?x1xf32, #optc.dims<N>> {
  %0 = nn.exp %x : tensor<?x?xf32, #optc.dims<N, 2 * H>>
  %1 = nn.tanh %0 {mem.tie = array<i64: 0>} : tensor<?x?xf32, #optc.dims<N, 2 * H>>
  %2 = nn.reduce_sum %1 {axes = array<i64: 1>, keepdims} : (tensor<?x?xf32, #optc.dims<N, 2 * H>>) -> tensor<?x1xf32, #optc.dims<N>>
  %3 = nn.neg %2 : tensor<?x1xf32, #optc.dims<N>>
  return %3 : tensor<?x1xf32, #optc.dims<N>>
}

// ----- output
// module {
//   func.func @main(%arg0: tensor<?x?xf32, #optc.dims<N, 2 * H>>) -> tensor<?x1xf32, #optc.dims<N>> attributes {optc.buffers = [[0, 2, #optc.dims<8 * H * N>], [2, 3, #optc.dims<4 * N>]], optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.exp %arg0 {mem.buffer = [0]} : tensor<?x?xf32, #optc.dims<N, 2 * H>>
//     %1 = nn.tanh %0 {mem.buffer = [0], mem.tie = array<i64: 0>} : tensor<?x?xf32, #optc.dims<N, 2 * H>>
//     %2 = nn.reduce_sum %1 {axes = array<i64: 1>, keepdims, mem.buffer = [1]} : (tensor<?x?xf32, #optc.dims<N, 2 * H>>) -> tensor<?x1xf32, #optc.dims<N>>
//     %3 = nn.neg %2 {mem.buffer = [["out", 0]]} : tensor<?x1xf32, #optc.dims<N>>
//     return %3 : tensor<?x1xf32, #optc.dims<N>>
//   }
// }
