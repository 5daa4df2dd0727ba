// RUN: optc --passes=plan --verify-diagnostics
// A `?` without a name has no expression, so it cannot be planned. The error points at the first such value.

func.func @main(%arg0: tensor<?xf32>) -> tensor<?xf32> {
  %0 = nn.exp %arg0 : tensor<?xf32>
  // expected-error@-1 {{the size of a result is not known}}
  %1 = nn.neg %0 : tensor<?xf32>
  return %1 : tensor<?xf32>
}
// ----- output
