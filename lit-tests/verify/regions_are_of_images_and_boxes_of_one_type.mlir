// RUN: optc --verify-diagnostics
// Regions are read of images of four axes, in boxes of four numbers of the same type, each with its image.

func.func @f(%x: tensor<1x9x9x4xf32>, %d: tensor<9x9x4xf32>, %h: tensor<1x9x9x4xf16>, %b: tensor<3x4xf32>, %w: tensor<3x5xf32>, %i: tensor<3xi64>, %j: tensor<2xi64>, %k: tensor<3xi32>) {
  // expected-error@+1 {{`nn.roi_align`: the boxes have not two axes, or `bins` is not two sizes}}
  %0 = nn.roi_align %x, %b, %i {bins = array<i64: 2>} : (tensor<1x9x9x4xf32>, tensor<3x4xf32>, tensor<3xi64>) -> tensor<3x2x2x4xf32>
  // expected-error@+1 {{`nn.roi_align`: the images have not four axes, the boxes two, and their images' numbers one}}
  %1 = nn.roi_align %d, %b, %i {bins = array<i64: 2, 2>} : (tensor<9x9x4xf32>, tensor<3x4xf32>, tensor<3xi64>) -> tensor<3x2x2x4xf32>
  // expected-error@+1 {{`nn.roi_align`: boxes of sizes [3, 5], and numbers of images of [3]}}
  %2 = nn.roi_align %x, %w, %i {bins = array<i64: 2, 2>} : (tensor<1x9x9x4xf32>, tensor<3x5xf32>, tensor<3xi64>) -> tensor<3x2x2x4xf32>
  // expected-error@+1 {{`nn.roi_align`: boxes of sizes [3, 4], and numbers of images of [2]}}
  %3 = nn.roi_align %x, %b, %j {bins = array<i64: 2, 2>} : (tensor<1x9x9x4xf32>, tensor<3x4xf32>, tensor<2xi64>) -> tensor<3x2x2x4xf32>
  // expected-error@+1 {{`nn.roi_align`: images and boxes are not both of f32 or f64, or the images' numbers not of i64}}
  %4 = nn.roi_align %h, %b, %i {bins = array<i64: 2, 2>} : (tensor<1x9x9x4xf16>, tensor<3x4xf32>, tensor<3xi64>) -> tensor<3x2x2x4xf16>
  // expected-error@+1 {{`nn.roi_align`: images and boxes are not both of f32 or f64, or the images' numbers not of i64}}
  %5 = nn.roi_align %x, %b, %k {bins = array<i64: 2, 2>} : (tensor<1x9x9x4xf32>, tensor<3x4xf32>, tensor<3xi32>) -> tensor<3x2x2x4xf32>
  // expected-error@+1 {{`nn.roi_align`: `samples` is 5000, expected 0 to 4096}}
  %6 = nn.roi_align %x, %b, %i {bins = array<i64: 2, 2>, samples = 5000 : i64} : (tensor<1x9x9x4xf32>, tensor<3x4xf32>, tensor<3xi64>) -> tensor<3x2x2x4xf32>
  return
}
// ----- output
