// RUN: optc --passes=precision --verify-diagnostics
// Which kernel runs decides where numbers are rounded, and sizes decide that: so they must be known.

func.func @main(%x: tensor<?x8xf32, #optc.dims<N>>) -> tensor<?x8xf32, #optc.dims<N>> {
  %0 = nn.neg %x : tensor<?x8xf32, #optc.dims<N>>
  // expected-error@-1 {{numbers are rounded to bf16 only where all sizes are known: give `--dim`}}
  return %0 : tensor<?x8xf32, #optc.dims<N>>
}
// ----- output
