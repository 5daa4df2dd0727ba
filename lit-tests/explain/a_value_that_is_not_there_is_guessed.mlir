// RUN: optc explain %12 --threads=1
// No value has that name.

func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = nn.exp %x : tensor<64xf32>
  %1 = nn.softmax %0 {axis = 0} : tensor<64xf32>
  return %1 : tensor<64xf32>
}
// ----- output
// error: the plan has no value or node `%12` (did you mean `%1`?)
