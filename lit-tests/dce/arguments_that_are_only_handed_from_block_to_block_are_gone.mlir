// RUN: optc --passes=dce
// A block argument that is only passed around a cycle of blocks has readers but no use. Counting readers
// alone would keep it, and its buffer.

func.func @may_not_end(%c: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
  "cf.br"(%x)[^head] : (tensor<4xf32>) -> ()
^head(%a: tensor<4xf32>):
  "cf.cond_br"(%c, %a)[^body, ^exit] <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (i1, tensor<4xf32>) -> ()
^body(%b: tensor<4xf32>):
  "cf.br"(%b)[^head] : (tensor<4xf32>) -> ()
^exit:
  return %x : tensor<4xf32>
}
// ----- output
// module {
//   func.func @may_not_end(%arg0: i1, %arg1: tensor<4xf32>) -> tensor<4xf32> {
//     cf.br ^bb1
//   ^bb1:  // 2 preds: ^bb0, ^bb2
//     cf.cond_br %arg0, ^bb2, ^bb3
//   ^bb2:  // pred: ^bb1
//     cf.br ^bb1
//   ^bb3:  // pred: ^bb1
//     return %arg1 : tensor<4xf32>
//   }
// }
