// RUN: optc plan --threads=1 --budget=64K
// The balanced plan takes 74.0 kB: the budget makes the wide image stream.

func.func @main(%x: tensor<1x?x16x4xf32, #optc.dims<H>>) -> tensor<1x?x16x4xf32, #optc.dims<H>> attributes {optc.dims = {H = [1, 32]}} {
  %w = nn.constant dense<0.5> : tensor<32x4x1x1xf32>
  %v = nn.constant dense<0.25> : tensor<4x32x2x1xf32>
  %0 = nn.neg %x : tensor<1x?x16x4xf32, #optc.dims<H>>
  %1 = nn.conv2d %0, %w {layout = "NHWC"} : (tensor<1x?x16x4xf32, #optc.dims<H>>, tensor<32x4x1x1xf32>) -> tensor<1x?x16x32xf32, #optc.dims<H>>
  %2 = nn.conv2d %1, %v {layout = "NHWC", pads = array<i64: 1, 0, 0, 0>} : (tensor<1x?x16x32xf32, #optc.dims<H>>, tensor<4x32x2x1xf32>) -> tensor<1x?x16x4xf32, #optc.dims<H>>
  %3 = nn.neg %2 : tensor<1x?x16x4xf32, #optc.dims<H>>
  return %3 : tensor<1x?x16x4xf32, #optc.dims<H>>
}
// ----- output
// sizes 1 <= H <= 32: offsets are computed for each size; `--dim H=4` plans for one
// buffer 1: 20928 bytes, steps 1 to 1; scratch of `optc.group`
// buffer 0: 256 * H bytes, steps 0 to 1; %2 of `nn.neg`
// at H = 32: arena 20.9 kB (20928 bytes)
// at all sizes: arena 20.9 kB (20928 bytes), the joint maximum
