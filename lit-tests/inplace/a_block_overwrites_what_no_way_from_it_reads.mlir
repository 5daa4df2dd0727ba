// RUN: optc --passes=inplace --remarks=inplace

// %y dies in ^bb2; in ^bb1, which may come again, it does not.
func.func @main(%c: i1, %x: tensor<64xf32>) -> tensor<64xf32> {
  %y = nn.neg %x : tensor<64xf32>
  cf.br ^bb1
^bb1:
  %0 = nn.abs %y : tensor<64xf32>
  cf.cond_br %c, ^bb1, ^bb2
^bb2:
  %1 = nn.floor %y : tensor<64xf32>
  %2 = nn.add %0, %1 : tensor<64xf32>
  return %2 : tensor<64xf32>
}
// ----- output
// error: expected `:`, found `^bb1`
//  --> a_block_overwrites_what_no_way_from_it_reads.mlir:7:1
//   |
// 7 | ^bb1:
//   | ^^^^
