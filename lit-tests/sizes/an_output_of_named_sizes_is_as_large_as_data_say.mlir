// RUN: optc run --dim=N=3 --dim=M=4 --random=1 --threads=1
// Only the columns of the M whose number in %c is above 0 are kept. The output is cut from its upper bound to
// that count after the run.

func.func @main(%x: tensor<?x?xf32, #optc.dims<N, M>> {optc.name = "x"}, %c: tensor<?xf32, #optc.dims<M>> {optc.name = "c"}) -> (tensor<?x?xf32, #optc.dims<N, M>> {optc.name = "y", optc.open = array<i64: 1, 1>}, tensor<i64> {optc.name = "y.size1", optc.count}) {
  %0 = nn.constant dense<0.0> : tensor<f32>
  %1 = nn.gt %c, %0 : (tensor<?xf32, #optc.dims<M>>, tensor<f32>) -> tensor<?xi1, #optc.dims<M>>
  %2, %3 = nn.compress %x, %1 {axis = 1 : i64} : (tensor<?x?xf32, #optc.dims<N, M>>, tensor<?xi1, #optc.dims<M>>) -> (tensor<?x?xf32, #optc.dims<N, M>>, tensor<i64>)
  %4 = nn.exp %2 : tensor<?x?xf32, #optc.dims<N, M>>
  return %4, %3 : tensor<?x?xf32, #optc.dims<N, M>>, tensor<i64>
}
// ----- output
// output `y` [3, 2]: 2.36786, 1.96073, 1.19649, 0.40455, 0.62561, 1.46081
// arena 4 bytes, optimal for this order and these kernels; 27 times less than without reuse (108 bytes); weights 64 bytes
