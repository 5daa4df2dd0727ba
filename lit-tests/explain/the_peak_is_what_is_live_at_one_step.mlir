// RUN: optc explain --threads=1
// The convolution has most bytes live: its input, its result and its scratch. What would lower the arena was tried.

func.func @main(%x: tensor<1x32x32x8xf32> {optc.name = "x"}) -> tensor<1x8x8x16xf32> {
  %w = nn.constant dense<0.5> : tensor<16x8x3x3xf32>
  %b = nn.constant dense<0.25> : tensor<16xf32>
  %0 = nn.exp %x : tensor<1x32x32x8xf32>
  %1 = nn.conv2d %0, %w, %b {groups = 1, layout = "NHWC", pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x32x32x8xf32>, tensor<16x8x3x3xf32>, tensor<16xf32>) -> tensor<1x32x32x16xf32>
  %2 = nn.max_pool2d %1 {kernel = array<i64: 4, 4>, layout = "NHWC", pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 4, 4>} : (tensor<1x32x32x16xf32>) -> tensor<1x8x8x16xf32>
  return %2 : tensor<1x8x8x16xf32>
}
// ----- output
// arena 102.8 kB (102848 bytes), optimal for this order and these kernels; without reuse 106.9 kB (106944 bytes)
// live bytes, step 0 to 2: |▃█▆|
// peak at step 1, `nn.conv2d`: 102.8 kB (102848 bytes) are live
//        65536 bytes  %3: tensor<1x32x32x16xf32> of `nn.conv2d`, steps 1 to 2
//        32768 bytes  %2: tensor<1x32x32x8xf32> of `nn.exp`, steps 0 to 1
//         4544 bytes  scratch of `nn.conv2d`
// options for a smaller arena, each tried by planning again:
//   --optimize=memory: 45.5 kB (45504 bytes), 57344 bytes fewer; 2 steps
//   --donate=x: 70.1 kB (70080 bytes), 32768 bytes fewer; 3 steps
//   --precision=bf16: 84.6 kB (84608 bytes), 18240 bytes fewer; 3 steps
