// RUN: optc --verify-diagnostics
// What is written to slices by index must be one slice for each index, of the slices' type and sizes.

func.func @f(%x: tensor<4x2xf32>, %i: tensor<3xi64>, %t: tensor<1x3xi64>, %u: tensor<3x2xf64>, %v: tensor<3x5xf32>) {
  // expected-error@+1 {{`nn.scatter`: the operands are not slices, a list of indices, and slices}}
  %0 = nn.scatter %x, %t, %v : (tensor<4x2xf32>, tensor<1x3xi64>, tensor<3x5xf32>) -> tensor<4x2xf32>
  // expected-error@+1 {{`nn.scatter`: the updates are of another type than what they are written to}}
  %1 = nn.scatter %x, %i, %u : (tensor<4x2xf32>, tensor<3xi64>, tensor<3x2xf64>) -> tensor<4x2xf32>
  // expected-error@+1 {{`nn.scatter`: the updates are not of sizes [3, 2]}}
  %2 = nn.scatter %x, %i, %v : (tensor<4x2xf32>, tensor<3xi64>, tensor<3x5xf32>) -> tensor<4x2xf32>
  return
}
// ----- output
