// RUN: optc plan --threads=1 --optimize=memory
// The wide image streams at every size, so that only a few of its rows exist at a time, in scratch.

func.func @main(%x: tensor<?x?x16x4xf32, #optc.dims<N, H>> {optc.name = "x"}) -> tensor<?x?x16x4xf32, #optc.dims<N, H>> attributes {optc.dims = {H = [1, 32], N = [1, 4]}} {
  %w = nn.constant dense<0.5> : tensor<32x4x1x1xf32>
  %v = nn.constant dense<0.25> : tensor<32x1x3x3xf32>
  %u = nn.constant dense<0.125> : tensor<4x32x1x1xf32>
  %0 = nn.neg %x : tensor<?x?x16x4xf32, #optc.dims<N, H>>
  %1 = nn.conv2d %0, %w {layout = "NHWC"} : (tensor<?x?x16x4xf32, #optc.dims<N, H>>, tensor<32x4x1x1xf32>) -> tensor<?x?x16x32xf32, #optc.dims<N, H>>
  %2 = nn.conv2d %1, %v {groups = 32 : i64, layout = "NHWC", pads = array<i64: 1, 1, 1, 1>} : (tensor<?x?x16x32xf32, #optc.dims<N, H>>, tensor<32x1x3x3xf32>) -> tensor<?x?x16x32xf32, #optc.dims<N, H>>
  %3 = nn.conv2d %2, %u {layout = "NHWC"} : (tensor<?x?x16x32xf32, #optc.dims<N, H>>, tensor<4x32x1x1xf32>) -> tensor<?x?x16x4xf32, #optc.dims<N, H>>
  %4 = nn.neg %3 : tensor<?x?x16x4xf32, #optc.dims<N, H>>
  return %4 : tensor<?x?x16x4xf32, #optc.dims<N, H>>
}
// ----- output
// sizes 1 <= H <= 32, 1 <= N <= 4: offsets are computed for each size; `--dim H=4` plans for one
// buffer 1: 53248 bytes, steps 1 to 1; scratch of `optc.group`
// buffer 0: 256 * H * N bytes, steps 0 to 1; %3 of `nn.neg`
// at N = 4, H = 32: arena 53.2 kB (53248 bytes)
// at all sizes: arena 53.2 kB (53248 bytes), the joint maximum
