// RUN: optc plan --threads=1 --dim N=8 --csv=-
// `--csv` exports the placement problem at the given sizes, so other planners can be compared on it.

func.func @main(%x: tensor<?x4xf32, #optc.dims<N>>) -> tensor<4xf32> {
  %0 = nn.add %x, %x : tensor<?x4xf32, #optc.dims<N>>
  %1 = nn.relu %0 : tensor<?x4xf32, #optc.dims<N>>
  %2 = nn.reduce_sum %1 {axes = array<i64: 0>} : (tensor<?x4xf32, #optc.dims<N>>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
// ----- output
// id,lower,upper,size,alignment
// v4,0,2,128,64
