// RUN: optc --passes='plan{pools=image}' --verify-diagnostics
// A misspelt pool is an error at the operation that names it. Falling back to the arena would hide the
// mistake.

func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
  // expected-error@+1 {{there is no pool `imagee`}}
  %0 = nn.sqrt %x {mem.pool = ["imagee"]} : tensor<64xf32>
  %1 = nn.neg %0 : tensor<64xf32>
  return %1 : tensor<64xf32>
}
// ----- output
