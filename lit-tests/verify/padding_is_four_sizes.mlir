// RUN: optc --verify-diagnostics
// `pads` has exactly four sizes, which may be names; an unknown size in it is an error.

func.func @f(%x: tensor<1x?x8x4xf32, #optc.dims<H>>) {
  // expected-error@+1 {{`nn.max_pool2d`: `pads` is not 4 sizes}}
  %0 = nn.max_pool2d %x {kernel = array<i64: 2, 2>, layout = "NHWC", pads = #optc.dims<H, 0, 0>} : (tensor<1x?x8x4xf32, #optc.dims<H>>) -> tensor<1x?x7x4xf32, #optc.dims<2 * H - 1>>
  // expected-error@+1 {{`nn.max_pool2d`: `pads` is not 4 sizes}}
  %1 = nn.max_pool2d %x {kernel = array<i64: 2, 2>, layout = "NHWC", pads = #optc.dims<H, 0, _, 0>} : (tensor<1x?x8x4xf32, #optc.dims<H>>) -> tensor<1x?x7x4xf32, #optc.dims<2 * H - 1>>
  %2 = nn.max_pool2d %x {kernel = array<i64: 2, 2>, layout = "NHWC", pads = #optc.dims<H, 0, 0, 0>} : (tensor<1x?x8x4xf32, #optc.dims<H>>) -> tensor<1x?x7x4xf32, #optc.dims<2 * H - 1>>
  return
}
// ----- output
