// RUN: optc explain 1 --threads=1
// What is live at step 1.

func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = nn.exp %x : tensor<64xf32>
  %1 = nn.softmax %0 {axis = 0} : tensor<64xf32>
  %2 = nn.mul %1, %0 : tensor<64xf32>
  return %2 : tensor<64xf32>
}
// ----- output
// step 1, `nn.softmax`: 256 bytes are live
//          256 bytes  %0: tensor<64xf32> of `nn.exp`, steps 0 to 2
