// RUN: optc --passes=plan

func.func @main(%c: i1, %x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = nn.neg %x : tensor<64xf32>
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  return %0 : tensor<64xf32>
^bb2:
  %1 = nn.abs %0 : tensor<64xf32>
  return %1 : tensor<64xf32>
}
// ----- output
// error: expected a value, found `^bb1`
//  --> a_function_that_returns_at_two_places_copies.mlir:5:18
//   |
// 5 |   cf.cond_br %c, ^bb1, ^bb2
//   |                  ^^^^
