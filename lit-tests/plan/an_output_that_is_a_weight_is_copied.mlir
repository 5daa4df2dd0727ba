// RUN: optc --passes=plan

func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.constant dense<1.0> : tensor<4xf32>
  return %0 : tensor<4xf32>
}
// ----- output
// error: operand 0 has no place
//  --> an_output_that_is_a_weight_is_copied.mlir:5:3
//   |
// 5 |   return %0 : tensor<4xf32>
//   |   ^^^^^^
