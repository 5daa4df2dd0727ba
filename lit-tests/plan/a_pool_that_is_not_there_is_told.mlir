// RUN: optc --passes='plan{pools=image}' --verify-diagnostics

func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
  // expected-error@+1 {{there is no pool `imagee`}}
  %0 = nn.sqrt %x {mem.pool = ["imagee"]} : tensor<64xf32>
  %1 = nn.neg %0 : tensor<64xf32>
  return %1 : tensor<64xf32>
}
// ----- output
