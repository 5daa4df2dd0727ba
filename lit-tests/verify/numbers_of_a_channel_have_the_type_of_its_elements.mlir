// RUN: optc --verify-diagnostics
// A kernel reads the numbers of each channel as elements of the operand's type: of another type it would read
// beyond them.

func.func @f(%x: tensor<2x4xf64>, %c: tensor<4xf32>) {
  // expected-error@+1 {{`nn.batch_norm`: operand 1 has elements of another type than operand 0}}
  %1 = nn.batch_norm %x, %c, %c, %c, %c : (tensor<2x4xf64>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4xf64>
  return
}
// ----- output
