// RUN: optc plan --dim 'N<=512' --dim N=513
// A size beyond the upper bound that the user gave is an error before anything is planned.

func.func @main(%x: tensor<?xf32, #optc.dims<N>>) -> tensor<?xf32, #optc.dims<N>> {
  %0 = nn.relu %x : tensor<?xf32, #optc.dims<N>>
  return %0 : tensor<?xf32, #optc.dims<N>>
}
// ----- output
// error: `N` = 513, expected 1 <= N <= 512
//
// For more information, try '--help'.
