// RUN: optc plan --remarks=plan --threads=1 --optimize=speed
// The pixels of a tile are as far apart as the taps of the filter. With a dilation of 12 in an image of 14 x
// 14, a tile would have at most two pixels in a row, and most of the filter's taps meet only padding.

func.func @main(%x: tensor<1x14x14x64xf32>) -> tensor<1x14x14x64xf32> {
  %w = nn.constant dense<0.5> : tensor<64x64x3x3xf32>
  %0 = nn.conv2d %x, %w {layout = "NHWC", dilations = array<i64: 2, 2>, pads = array<i64: 2, 2, 2, 2>} : (tensor<1x14x14x64xf32>, tensor<64x64x3x3xf32>) -> tensor<1x14x14x64xf32>
  %1 = nn.conv2d %0, %w {layout = "NHWC", dilations = array<i64: 12, 12>, pads = array<i64: 12, 12, 12, 12>} : (tensor<1x14x14x64xf32>, tensor<64x64x3x3xf32>) -> tensor<1x14x14x64xf32>
  return %1 : tensor<1x14x14x64xf32>
}
// ----- output
// arena 573.4 kB (573440 bytes), optimal for this order and these kernels; 1.2 times less than without reuse (674752 bytes); weights 147.5 kB (147456 bytes)
// 2 steps on 1 thread; inputs 50176 bytes, outputs 50176 bytes
// live bytes, step 0 to 1: |█▂|
// peak at step 0, `nn.conv2d`: 573.4 kB (573440 bytes) are live
//       523264 bytes  scratch of `nn.conv2d`
//        50176 bytes  %1: tensor<1x14x14x64xf32> of `nn.conv2d`, steps 0 to 1
// options for a smaller arena, each tried by planning again:
//   --optimize=memory: 61.9 kB (61888 bytes), 511552 bytes fewer; 2 steps
