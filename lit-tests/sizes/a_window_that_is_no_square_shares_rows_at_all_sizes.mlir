// RUN: optc plan --threads=1
// The result is written over rows of its image at all sizes, as the window's height, steps and padding from
// above allow; those along a row are others. Side by side the two take 8192 * 446 bytes.

func.func @main(%x: tensor<1x?x64x32xf32, #optc.dims<H>> {optc.name = "x"}) -> tensor<1x32xf32> attributes {optc.dims = {H = [8, 224]}} {
  %0 = nn.exp %x : tensor<1x?x64x32xf32, #optc.dims<H>>
  %1 = nn.max_pool2d %0 {dilations = array<i64: 1, 2>, kernel = array<i64: 5, 3>, layout = "NHWC", pads = array<i64: 1, 2, 1, 2>} : (tensor<1x?x64x32xf32, #optc.dims<H>>) -> tensor<1x?x64x32xf32, #optc.dims<H - 2>>
  %2 = nn.reduce_sum %1 {axes = array<i64: 1, 2>} : (tensor<1x?x64x32xf32, #optc.dims<H - 2>>) -> tensor<1x32xf32>
  return %2 : tensor<1x32xf32>
}
// ----- output
// sizes 8 <= H <= 224: offsets are computed for each size; `--dim H=4` plans for one
// buffer 0: 8192 * H bytes, steps 0 to 1; %0 of `nn.exp`
// buffer 1: 8192 * H - 16384 bytes, steps 1 to 2; %1 of `nn.max_pool2d`
// at H = 128: arena 1.66 MB (1662976 bytes)
// at all sizes: arena 2.46 MB (2457600 bytes), the joint maximum
