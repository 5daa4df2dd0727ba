// RUN: optc plan --precision=bf16
// A program for all sizes is never rounded, so the option must not be ignored there.

func.func @main(%x: tensor<?x8xf32, #optc.dims<N>>) -> tensor<?x8xf32, #optc.dims<N>> {
  %0 = nn.neg %x : tensor<?x8xf32, #optc.dims<N>>
  return %0 : tensor<?x8xf32, #optc.dims<N>>
}
// ----- output
// error: numbers are rounded to bf16 only where all sizes are known: give `--dim`
