// RUN: optc --verify-diagnostics
// The attributes of a group norm must describe axes of its operand, and its groups must divide the channels.

func.func @f(%x: tensor<1x4x2x2xf32>, %s: tensor<4xf32>) {
  // expected-error@+1 {{`nn.group_norm`: 1 in `axes` is not another axis of the operand, named once}}
  %0 = nn.group_norm %x, %s, %s {axes = array<i64: 1, 2>, groups = 2 : i64} : (tensor<1x4x2x2xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x2x2xf32>
  // expected-error@+1 {{`nn.group_norm`: 2 in `axes` is not another axis of the operand, named once}}
  %1 = nn.group_norm %x, %s, %s {axes = array<i64: 2, 2>, groups = 2 : i64} : (tensor<1x4x2x2xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x2x2xf32>
  // expected-error@+1 {{`nn.group_norm`: `groups` is not at least 0}}
  %2 = nn.group_norm %x, %s, %s {axes = array<i64: 2, 3>, groups = -1 : i64} : (tensor<1x4x2x2xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x2x2xf32>
  // expected-error@+1 {{`nn.group_norm`: 4 channels are not divided by 3 groups}}
  %3 = nn.group_norm %x, %s, %s {axes = array<i64: 2, 3>, groups = 3 : i64} : (tensor<1x4x2x2xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x2x2xf32>
  return
}
// ----- output
