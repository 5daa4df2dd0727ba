// RUN: optc plan --dim N=4 --threads=1
// This is what `optc --passes=plan` prints of a program of named sizes. With numbers it is planned again: it
// has no offsets yet, and its ties hold for all sizes.

func.func @main(%x: tensor<?x16xf32, #optc.dims<N>> {optc.name = "x"}) -> tensor<16xf32> attributes {optc.buffers = [[0, 2, #optc.dims<64 * N>]], optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
  %0 = nn.exp %x {mem.buffer = [0]} : tensor<?x16xf32, #optc.dims<N>>
  %1 = nn.neg %0 {mem.buffer = [0], mem.tie = array<i64: 0>} : tensor<?x16xf32, #optc.dims<N>>
  %2 = nn.reduce_sum %1 {axes = array<i64: 0>, mem.buffer = ["out"]} : (tensor<?x16xf32, #optc.dims<N>>) -> tensor<16xf32>
  return %2 : tensor<16xf32>
}
// ----- output
// arena 256 bytes, optimal for this order and these kernels; 2.2 times less than without reuse (576 bytes); weights 0 bytes
// 3 steps on 1 thread; inputs 256 bytes, outputs 64 bytes
// live bytes, step 0 to 2: |███|
// peak at step 0, `nn.exp`: 256 bytes are live
//          256 bytes  %0: tensor<4x16xf32> of `nn.exp`, steps 0 to 2
