// RUN: optc --passes=inplace --remarks=inplace

func.func @main(%n: index, %one: index, %x: tensor<64xf32>) -> tensor<64xf32> {
  %r = scf.for %i = %one to %n step %one iter_args(%a = %x) -> (tensor<64xf32>) {
    %0 = nn.neg %a : tensor<64xf32>
    %1 = nn.mul %0, %a : tensor<64xf32>
    scf.yield %1 : tensor<64xf32>
  }
  return %r : tensor<64xf32>
}
// ----- output
// error: expected `:` and types, found `=`
//  --> a_carried_value_that_is_read_after_its_update_is_kept.mlir:4:19
//   |
// 4 |   %r = scf.for %i = %one to %n step %one iter_args(%a = %x) -> (tensor<64xf32>) {
//   |                   ^
