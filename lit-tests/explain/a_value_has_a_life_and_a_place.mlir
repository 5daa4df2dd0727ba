// RUN: optc explain %2 --threads=1
// Its life, who has its bytes before and after it, and why it does not overwrite what it reads.

func.func @main(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = nn.softmax %x {axis = 1} : tensor<64x64xf32>
  %1 = nn.matmul %0, %x : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %2 = nn.matmul %1, %x : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %3 = nn.matmul %2, %x : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %4 = nn.softmax %3 {axis = 1} : tensor<64x64xf32>
  %5 = nn.mul %4, %3 : tensor<64x64xf32>
  %6 = nn.matmul %5, %x : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %6 : tensor<64x64xf32>
}
// ----- output
// %2: result, of `nn.matmul`, 16.4 kB (16384 bytes)
//   live from step 2 to its last reader, step 3, `nn.matmul`
//   is in the caller's output 0
//   before it, in the same bytes: %0, steps 0 to 1
//   after it, in the same bytes: %6, steps 6 to 7
