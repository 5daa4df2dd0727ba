// RUN: optc --passes=inplace --remarks=inplace

// The next round reads it again.
func.func @main(%n: index, %one: index, %x: tensor<64xf32>) -> tensor<64xf32> {
  %y = nn.neg %x : tensor<64xf32>
  %r = scf.for %i = %one to %n step %one iter_args(%a = %x) -> (tensor<64xf32>) {
    %0 = nn.abs %y : tensor<64xf32>
    scf.yield %0 : tensor<64xf32>
  }
  return %r : tensor<64xf32>
}
// ----- output
// error: expected `:` and types, found `=`
//  --> a_value_from_outside_a_loop_is_kept.mlir:6:19
//   |
// 6 |   %r = scf.for %i = %one to %n step %one iter_args(%a = %x) -> (tensor<64xf32>) {
//   |                   ^
