// RUN: optc --passes=plan

func.func @main(%n: index, %one: index, %x: tensor<64xf32>, %y: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %r:2 = scf.for %i = %one to %n step %one iter_args(%a = %x, %b = %y) -> (tensor<64xf32>, tensor<64xf32>) {
    scf.yield %b, %a : tensor<64xf32>, tensor<64xf32>
  }
  return %r#0, %r#1 : tensor<64xf32>, tensor<64xf32>
}
// ----- output
// error: expected `:` and types, found `=`
//  --> values_that_change_places_take_scratch.mlir:4:21
//   |
// 4 |   %r:2 = scf.for %i = %one to %n step %one iter_args(%a = %x, %b = %y) -> (tensor<64xf32>, tensor<64xf32>) {
//   |                     ^
