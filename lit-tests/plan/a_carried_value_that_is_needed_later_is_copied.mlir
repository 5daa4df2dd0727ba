// RUN: optc --passes=plan

// What is yielded is made while the argument is still read, and the initial value is read behind the loop: both have places of their own.
func.func @main(%n: index, %one: index, %x: tensor<64xf32>) -> tensor<64xf32> {
  %y = nn.neg %x : tensor<64xf32>
  %r = scf.for %i = %one to %n step %one iter_args(%a = %y) -> (tensor<64xf32>) {
    %0 = nn.abs %a : tensor<64xf32>
    %1 = nn.add %0, %a : tensor<64xf32>
    %2 = nn.sub %1, %a : tensor<64xf32>
    scf.yield %0 : tensor<64xf32>
  }
  %s = nn.add %r, %y : tensor<64xf32>
  return %s : tensor<64xf32>
}
// ----- output
// error: expected `:` and types, found `=`
//  --> a_carried_value_that_is_needed_later_is_copied.mlir:6:19
//   |
// 6 |   %r = scf.for %i = %one to %n step %one iter_args(%a = %y) -> (tensor<64xf32>) {
//   |                   ^
