// RUN: optc --passes=plan

// The initial value, the argument, what is yielded and the result are one class; the value from outside keeps its bytes to the end.
func.func @main(%n: index, %one: index, %x: tensor<64xf32>) -> tensor<64xf32> {
  %y = nn.neg %x : tensor<64xf32>
  %z = nn.abs %x : tensor<64xf32>
  %r = scf.for %i = %one to %n step %one iter_args(%a = %y) -> (tensor<64xf32>) {
    %0 = nn.add %z, %z : tensor<64xf32>
    %1 = nn.floor %a : tensor<64xf32>
    %2 = nn.mul %0, %1 : tensor<64xf32>
    scf.yield %2 : tensor<64xf32>
  }
  %s = nn.sqrt %r : tensor<64xf32>
  return %s : tensor<64xf32>
}
// ----- output
// error: expected `:` and types, found `=`
//  --> a_loop_carries_its_value_in_one_place.mlir:7:19
//   |
// 7 |   %r = scf.for %i = %one to %n step %one iter_args(%a = %y) -> (tensor<64xf32>) {
//   |                   ^
