// RUN: optc --verify-diagnostics
// A tensor that becomes a number has no axes, and an element that is one; a number that becomes a tensor is
// one. A filling says all its sizes, and a type.

func.func @f(%x: tensor<1xi64>, %u: tensor<ui8>, %v: vector<2xf32>) {
  // expected-error@+1 {{the operand has axes}}
  %0 = "nn.to_scalar"(%x) : (tensor<1xi64>) -> i64
  // expected-error@+1 {{the operand's element is no integer without a sign and no float}}
  %1 = "nn.to_scalar"(%u) : (tensor<ui8>) -> i8
  // expected-error@+1 {{the operand is no integer without a sign and no float}}
  %2 = "nn.from_scalar"(%v) : (vector<2xf32>) -> tensor<f32>
  // expected-error@+1 {{a size of `shape` is not given}}
  %3 = "optc.fill"() <{shape = array<i64: -1>, to = f32}> : () -> tensor<4xf32>
  return
}
// ----- output
