// RUN: optc --verify-diagnostics
// A kernel reads a weight beside each place, so there must be as many; types and the axis are fixed, too.

func.func @f(%x: tensor<4x5xf32>, %y: tensor<4x5xf64>, %p: tensor<2x3xi64>, %q: tensor<0x3xi64>, %w: tensor<2x3xf32>, %v: tensor<3x2xf32>) {
  // expected-error@+1 {{`nn.resample`: `axis` is not one of the operand's axes}}
  %0 = nn.resample %x, %p, %w {axis = 2 : i64} : (tensor<4x5xf32>, tensor<2x3xi64>, tensor<2x3xf32>) -> tensor<4x3xf32>
  // expected-error@+1 {{`nn.resample`: the places have not two axes, the first of at least one element}}
  %1 = nn.resample %x, %q, %w {axis = 1 : i64} : (tensor<4x5xf32>, tensor<0x3xi64>, tensor<2x3xf32>) -> tensor<4x3xf32>
  // expected-error@+1 {{`nn.resample`: there are not as many places as weights}}
  %2 = nn.resample %x, %p, %v {axis = 1 : i64} : (tensor<4x5xf32>, tensor<2x3xi64>, tensor<3x2xf32>) -> tensor<4x3xf32>
  // expected-error@+1 {{`nn.resample`: its elements are not f32, or the places not i64}}
  %3 = nn.resample %y, %p, %w {axis = 1 : i64} : (tensor<4x5xf64>, tensor<2x3xi64>, tensor<2x3xf32>) -> tensor<4x3xf64>
  return
}
// ----- output
