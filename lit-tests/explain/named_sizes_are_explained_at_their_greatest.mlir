// RUN: optc explain --threads=1 --dim 'N<=16'
// With a greatest size, the plan there is explained.

func.func @main(%x: tensor<?x64xf32, #optc.dims<N>>) -> tensor<?x64xf32, #optc.dims<N>> {
  %0 = nn.exp %x : tensor<?x64xf32, #optc.dims<N>>
  %1 = nn.softmax %0 {axis = 1} : tensor<?x64xf32, #optc.dims<N>>
  %2 = nn.mul %1, %0 : tensor<?x64xf32, #optc.dims<N>>
  return %2 : tensor<?x64xf32, #optc.dims<N>>
}
// ----- output
// at N = 16:
// arena 4096 bytes, optimal for this order and these kernels; 3.0 times less than without reuse (12288 bytes)
// live bytes, step 0 to 2: |███|
// peak at step 0, `nn.exp`: 4096 bytes are live
//         4096 bytes  %0: tensor<16x64xf32> of `nn.exp`, steps 0 to 2
// options for a smaller arena at all sizes, each tried by planning again:
//   --donate=x: 0 bytes, 4096 bytes fewer; 3 steps
//   --dim='N<=8': 2048 bytes, 2048 bytes fewer; 3 steps
