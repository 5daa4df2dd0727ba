// RUN: optc --passes=layout
// The transpose passes `nn.repeat`, whose counts are permuted with it.

func.func @main(%x: tensor<1x8x4x6xf32>) -> tensor<1x8x7x16xf32> {
  %0 = nn.max_pool2d %x {kernel = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x4x6xf32>) -> tensor<1x8x4x6xf32>
  %1 = nn.repeat %0 {counts = array<i64: 1, 1, 2, 3>} : (tensor<1x8x4x6xf32>) -> tensor<1x8x8x18xf32>
  %2 = nn.max_pool2d %1 {kernel = array<i64: 2, 3>} : (tensor<1x8x8x18xf32>) -> tensor<1x8x7x16xf32>
  return %2 : tensor<1x8x7x16xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x8x4x6xf32>) -> tensor<1x8x7x16xf32> attributes {optc.stage = "layout"} {
//     %0 = nn.transpose %arg0 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x8x4x6xf32>) -> tensor<1x4x6x8xf32>
//     %1 = nn.max_pool2d %0 {kernel = array<i64: 3, 3>, layout = "NHWC", pads = array<i64: 1, 1, 1, 1>} : tensor<1x4x6x8xf32>
//     %2 = nn.repeat %1 {counts = array<i64: 1, 2, 3, 1>} : (tensor<1x4x6x8xf32>) -> tensor<1x8x18x8xf32>
//     %3 = nn.max_pool2d %2 {kernel = array<i64: 2, 3>, layout = "NHWC"} : (tensor<1x8x18x8xf32>) -> tensor<1x7x16x8xf32>
//     %4 = nn.transpose %3 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x7x16x8xf32>) -> tensor<1x8x7x16xf32>
//     return %4 : tensor<1x8x7x16xf32>
//   }
// }
