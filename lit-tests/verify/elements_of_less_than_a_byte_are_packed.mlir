// RUN: optc --verify-diagnostics
// Only elements of less than a byte are packed and unpacked, and only bytes become such.

func.func @f(%x: tensor<4xi8>, %y: tensor<4xi16>) {
  // expected-error@+1 {{`nn.unpack`: the operand's elements are not packed}}
  %0 = nn.unpack %x : (tensor<4xi8>) -> tensor<4xi8>
  // expected-error@+1 {{`nn.pack`: the operand is not of bytes, or `to` is not packed}}
  %1 = nn.pack %y {to = i4} : (tensor<4xi16>) -> tensor<4xi4>
  return
}
// ----- output
