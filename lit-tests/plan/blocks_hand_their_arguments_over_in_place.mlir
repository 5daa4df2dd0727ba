// RUN: optc --passes=plan

// The block's argument, what the branches hand to it, and the output are one place.
func.func @main(%c: i1, %x: tensor<64xf32>) -> tensor<64xf32> {
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  %0 = nn.neg %x : tensor<64xf32>
  cf.br ^bb3(%0 : tensor<64xf32>)
^bb2:
  %1 = nn.abs %x : tensor<64xf32>
  cf.br ^bb3(%1 : tensor<64xf32>)
^bb3(%2: tensor<64xf32>):
  return %2 : tensor<64xf32>
}
// ----- output
// error: expected a value, found `^bb1`
//  --> blocks_hand_their_arguments_over_in_place.mlir:5:18
//   |
// 5 |   cf.cond_br %c, ^bb1, ^bb2
//   |                  ^^^^
