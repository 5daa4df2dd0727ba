// RUN: optc plan --threads=1 --budget=200
// The last note and each help have lines of their own.

func.func @main(%x: tensor<64xf32>) -> tensor<f32> {
  %0 = nn.exp %x : tensor<64xf32>
  %1 = nn.reduce_sum %0 {axes = array<i64: 0>} : (tensor<64xf32>) -> tensor<f32>
  %2 = nn.div %x, %1 : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %3 = nn.sub %2, %0 : tensor<64xf32>
  %4 = nn.mul %3, %0 : tensor<64xf32>
  %5 = nn.reduce_max %4 {axes = array<i64: 0>} : (tensor<64xf32>) -> tensor<f32>
  return %5 : tensor<f32>
}
// ----- output
// error: the arena does not fit the budget of 200 bytes: the smallest that was found has 256
//  --> a_budget_that_cannot_be_met_says_what_helps.mlir:5:8
//   |
// 5 |   %0 = nn.exp %x : tensor<64xf32>
//   |        ^^^^^^
//   |
//   = note: a_budget_that_cannot_be_met_says_what_helps.mlir:5:8: 256 bytes are live at the peak, `nn.exp`:
//   = note: a_budget_that_cannot_be_met_says_what_helps.mlir:5:8: 256 bytes: `nn.exp`
