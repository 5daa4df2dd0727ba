// RUN: optc run --dim N=2 --random=1 --threads=1
// `optc run --dim N=2` runs a program of named sizes, and its output has the size that follows from N.

func.func @main(%x: tensor<?x3xf32, #optc.dims<N>> {optc.name = "x"}) -> tensor<?xf32, #optc.dims<3 * N>> {
  %0 = nn.relu %x : tensor<?x3xf32, #optc.dims<N>>
  %1 = nn.reshape %0 {shape = #optc.dims<3 * N>} : (tensor<?x3xf32, #optc.dims<N>>) -> tensor<?xf32, #optc.dims<3 * N>>
  return %1 : tensor<?xf32, #optc.dims<3 * N>>
}
// ----- output
// output `result0` [6]: 0.86199, 0.00000, 0.67332, 0.00000, 0.17939, 0.36869
// arena 0 bytes, optimal for this order and these kernels; weights 0 bytes
