// RUN: optc plan --threads=1 --optimize=speed
// For the shortest time, Winograd's algorithm may take any scratch: more than the usual kernel.

func.func @main(%x: tensor<1x?x64x32xf32, #optc.dims<H>> {optc.name = "x"}) -> tensor<1x?x64x32xf32, #optc.dims<H>> attributes {optc.dims = {H = [8, 64]}} {
  %w = nn.constant dense<0.5> : tensor<32x32x3x3xf32>
  %0 = nn.exp %x : tensor<1x?x64x32xf32, #optc.dims<H>>
  %1 = nn.conv2d %0, %w {layout = "NHWC", pads = array<i64: 1, 1, 1, 1>} : (tensor<1x?x64x32xf32, #optc.dims<H>>, tensor<32x32x3x3xf32>) -> tensor<1x?x64x32xf32, #optc.dims<H>>
  %2 = nn.exp %1 : tensor<1x?x64x32xf32, #optc.dims<H>>
  return %2 : tensor<1x?x64x32xf32, #optc.dims<H>>
}
// ----- output
// sizes 8 <= H <= 64: offsets are computed for each size; `--dim H=4` plans for one
// buffer 1: 670592 bytes, steps 1 to 1; scratch of `optc.group`
// buffer 0: 8192 * H bytes, steps 0 to 1; %1 of `nn.exp`
// at H = 64: arena 1.19 MB (1194880 bytes)
// at all sizes: arena 1.19 MB (1194880 bytes), the joint maximum
