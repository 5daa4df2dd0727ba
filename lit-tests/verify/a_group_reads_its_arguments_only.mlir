// RUN: optc --verify-diagnostics
// A fused group takes everything as an argument. A value from outside would be missed by liveness.

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = optc.group(%a = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    // expected-error@+1 {{operand 1 of `nn.add` comes from outside of the group}}
    %1 = nn.add %a, %x : tensor<4xf32>
    optc.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
// ----- output
