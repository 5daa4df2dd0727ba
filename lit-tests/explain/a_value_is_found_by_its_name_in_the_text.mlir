// RUN: optc explain %odds
// A value has the name that the text gives it: `%odds` is the softmax. One that has a number there is found
// by its number in the plan.

func.func @main(%x: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %shifted = nn.cum_sum %x {axis = 1} : tensor<8x64xf32>
  %odds = nn.softmax %shifted {axis = 1} : tensor<8x64xf32>
  %2 = nn.cum_sum %odds {axis = 0} : tensor<8x64xf32>
  return %2 : tensor<8x64xf32>
}
// ----- output
// %1: output, of `nn.softmax` (odds), 2048 bytes
//   live from step 1 to its last reader, step 2, `nn.cum_sum`
//   is in the caller's output 0
//   shares a buffer with %0, %2 (overwritten, or views)
