// RUN: optc plan --dim 'N<=512' --dim N=513

func.func @main(%x: tensor<?xf32, #optc.dims<N>>) -> tensor<?xf32, #optc.dims<N>> {
  %0 = nn.relu %x : tensor<?xf32, #optc.dims<N>>
  return %0 : tensor<?xf32, #optc.dims<N>>
}
// ----- output
// error: `N` = 513, expected 1 <= N <= 512
//
// For more information, try '--help'.
