// RUN: optc --verify-diagnostics
// An axis attribute must be in range for its operand; kernels index with it unchecked.

func.func @f(%x: tensor<2x4xf32>, %c: tensor<3xf32>) {
  // expected-error@+1 {{`nn.softmax`: axis 2 is not one of the operand's 2}}
  %0 = nn.softmax %x {axis = 2 : i64} : tensor<2x4xf32>
  // expected-error@+1 {{`nn.batch_norm`: operand 1 is not a tensor of one number for each channel}}
  %1 = nn.batch_norm %x, %c, %c, %c, %c : (tensor<2x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x4xf32>
  return
}
// ----- output
