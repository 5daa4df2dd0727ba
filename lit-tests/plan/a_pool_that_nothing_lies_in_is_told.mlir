// RUN: optc plan --pool vtcm --pool areana:capacity=4KB --threads=1
// The arena that was meant has no limit, and nobody would see it from the table.

func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = nn.exp %x {mem.pool = ["vtcm"]} : tensor<64xf32>
  %1 = nn.softmax %0 {axis = 0 : i64} : tensor<64xf32>
  return %1 : tensor<64xf32>
}
// ----- output
// arena 0 bytes, optimal for this order and these kernels; weights 0 bytes
// pool `areana` is empty: no `mem.pool` names it (did you mean `arena`?)
// pool `vtcm` 256 bytes, optimal for this order and these kernels
// 2 steps on 1 thread; inputs 256 bytes, outputs 256 bytes
