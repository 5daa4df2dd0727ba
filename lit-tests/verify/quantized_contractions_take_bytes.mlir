// RUN: optc --verify-diagnostics
// Quantized contractions and tables refuse operands of other types than bytes, and zero points that do not
// fit.

func.func @f(%a: tensor<2x3xui8>, %b: tensor<3x4xi8>, %w: tensor<2x3xi16>, %z: tensor<ui8>, %y: tensor<i8>, %s: tensor<i16>, %one: tensor<1xui8>, %three: tensor<3xi8>, %rows: tensor<1x4xi8>, %t: tensor<256xui8>, %u: tensor<255xui8>) {
  // expected-error@+1 {{`nn.quantized_matmul`: an operand is not of integers of 8 bits}}
  %0 = "nn.quantized_matmul"(%w, %b, %s, %y) : (tensor<2x3xi16>, tensor<3x4xi8>, tensor<i16>, tensor<i8>) -> tensor<2x4xi32>
  // expected-error@+1 {{`nn.quantized_matmul`: a zero point has another type than what it is of}}
  %1 = "nn.quantized_matmul"(%a, %b, %y, %y) : (tensor<2x3xui8>, tensor<3x4xi8>, tensor<i8>, tensor<i8>) -> tensor<2x4xi32>
  // expected-error@+1 {{`nn.quantized_matmul`: the first operand has not one zero point}}
  %2 = "nn.quantized_matmul"(%a, %b, %one, %y) : (tensor<2x3xui8>, tensor<3x4xi8>, tensor<1xui8>, tensor<i8>) -> tensor<2x4xi32>
  // expected-error@+1 {{`nn.quantized_matmul`: zero points and channels of the second operand: 3 and 4 differ}}
  %3 = "nn.quantized_matmul"(%a, %b, %z, %three) : (tensor<2x3xui8>, tensor<3x4xi8>, tensor<ui8>, tensor<3xi8>) -> tensor<2x4xi32>
  // expected-error@+1 {{`nn.quantized_matmul`: the zero points of the second operand are not a tensor of at most one axis}}
  %4 = "nn.quantized_matmul"(%a, %b, %z, %rows) : (tensor<2x3xui8>, tensor<3x4xi8>, tensor<ui8>, tensor<1x4xi8>) -> tensor<2x4xi32>
  // expected-error@+1 {{`nn.lookup`: operand 0 is not of bytes}}
  %5 = "nn.lookup"(%w, %t) : (tensor<2x3xi16>, tensor<256xui8>) -> tensor<2x3xui8>
  // expected-error@+1 {{`nn.lookup`: the table is not of one axis of 256 elements}}
  %6 = "nn.lookup"(%a, %u) : (tensor<2x3xui8>, tensor<255xui8>) -> tensor<2x3xui8>
  return
}
// ----- output
