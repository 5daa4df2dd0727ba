// RUN: optc --passes=layout
// The axes of `nn.pad` are permuted together with the transpose: width is axis 3 before and axis 2 in
// channels-last order.

func.func @main(%x: tensor<1x4x6x5xf32>) -> tensor<1x4x6x5xf32> {
  %0 = nn.avg_pool2d %x {kernel = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>} : tensor<1x4x6x5xf32>
  %1 = nn.pad %0 {high = array<i64: 0, 0, 0, 1>, low = array<i64: 0, 0, 0, -1>} : (tensor<1x4x6x5xf32>) -> tensor<1x4x6x5xf32>
  return %1 : tensor<1x4x6x5xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x4x6x5xf32>) -> tensor<1x4x6x5xf32> attributes {optc.stage = "layout"} {
//     %0 = nn.transpose %arg0 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x4x6x5xf32>) -> tensor<1x6x5x4xf32>
//     %1 = nn.avg_pool2d %0 {kernel = array<i64: 3, 3>, layout = "NHWC", pads = array<i64: 1, 1, 1, 1>} : tensor<1x6x5x4xf32>
//     %2 = nn.pad %1 {high = array<i64: 0, 0, 1, 0>, low = array<i64: 0, 0, -1, 0>} : tensor<1x6x5x4xf32>
//     %3 = nn.transpose %2 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x6x5x4xf32>) -> tensor<1x4x6x5xf32>
//     return %3 : tensor<1x4x6x5xf32>
//   }
// }
