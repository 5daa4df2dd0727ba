// RUN: optc run --random
// Who wrote the plan does not matter: %2 is written over %0, which is read after it.

func.func @main(%x: tensor<64xf32>) -> tensor<1xf32> attributes {optc.arena = 512 : i64, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
  %0 = nn.exp %x {mem.place = [["arena", 0, 256]]} : tensor<64xf32>
  %1 = nn.cum_sum %0 {axis = 0, mem.place = [["arena", 256, 256]]} : tensor<64xf32>
  %2 = nn.cum_sum %1 {axis = 0, mem.place = [["arena", 0, 256]]} : tensor<64xf32>
  %3 = nn.sub %2, %0 {mem.place = [["arena", 256, 256]]} : tensor<64xf32>
  %4 = nn.reduce_sum %3 {axes = array<i64: 0>, keepdims, mem.place = [["out", 0, 4]]} : (tensor<64xf32>) -> tensor<1xf32>
  return %4 : tensor<1xf32>
}
// ----- output
// error: the bytes of operand 1 are overwritten before this step reads them
//  --> a_plan_in_a_text_is_checked.mlir:8:8
//   |
// 8 |   %3 = nn.sub %2, %0 {mem.place = [["arena", 256, 256]]} : tensor<64xf32>
//   |        ^^^^^^
