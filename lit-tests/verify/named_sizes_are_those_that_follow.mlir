// RUN: optc --verify-diagnostics
// Named sizes are checked like numbers: a result whose size follows as N cannot claim M.

func.func @f(%a: tensor<?xf32, #optc.dims<N>>, %b: tensor<?x2xf32, #optc.dims<N>>, %c: tensor<?x2xf32, #optc.dims<N + 1>>) {
  // expected-error@+1 {{result 0 of `nn.relu` must be `tensor<?xf32, #optc.dims<N>>`, is `tensor<?xf32, #optc.dims<M>>`}}
  %0 = nn.relu %a : (tensor<?xf32, #optc.dims<N>>) -> tensor<?xf32, #optc.dims<M>>
  // expected-error@+1 {{`nn.concat`: sizes N and N + 1 of axis 0 differ}}
  %1 = nn.concat %b, %c {axis = 1 : i64} : (tensor<?x2xf32, #optc.dims<N>>, tensor<?x2xf32, #optc.dims<N + 1>>) -> tensor<?x4xf32, #optc.dims<N>>
  // expected-error@+1 {{`nn.sizes`: `value` has only numbers, which `nn.constant` is for}}
  %2 = nn.sizes {value = array<i64: 3>} : tensor<1xi64>
  return
}
// ----- output
