// RUN: optc plan
// The number of its elements is no number of 64 bits, which is not the same as not being known.

func.func @main(%x: tensor<4294967296x4294967296xf32>) -> tensor<4294967296x4294967296xf32> {
  %0 = nn.exp %x : tensor<4294967296x4294967296xf32>
  return %0 : tensor<4294967296x4294967296xf32>
}
// ----- output
// error: `tensor<4294967296x4294967296xf32>` has more elements than memory holds
