// RUN: optc --passes='simplify{laws=conv-of-gaps}'
// The law that a convolution of columns with a zero between two is two convolutions without these zeros,
// whose results alternate. Transposed convolutions are written so. The image may have any number of columns.

func.func @main(%x: tensor<1x64x1x?xf32, #optc.dims<w>>, %w: tensor<64x64x1x3xf32>) -> tensor<1x64x1x?xf32, #optc.dims<2 * w>> {
  %0 = nn.reshape %x {shape = #optc.dims<1, 64, 1, w, 1>} : (tensor<1x64x1x?xf32, #optc.dims<w>>) -> tensor<1x64x1x?x1xf32, #optc.dims<w>>
  %1 = nn.pad %0 {low = array<i64: 0, 0, 0, 0, 0>, high = array<i64: 0, 0, 0, 0, 1>} : (tensor<1x64x1x?x1xf32, #optc.dims<w>>) -> tensor<1x64x1x?x2xf32, #optc.dims<w>>
  %2 = nn.reshape %1 {shape = #optc.dims<1, 64, 1, 2 * w>} : (tensor<1x64x1x?x2xf32, #optc.dims<w>>) -> tensor<1x64x1x?xf32, #optc.dims<2 * w>>
  %3 = nn.slice %2 {starts = array<i64: 0, 0, 0, 0>, sizes = #optc.dims<1, 64, 1, 2 * w - 1>} : (tensor<1x64x1x?xf32, #optc.dims<2 * w>>) -> tensor<1x64x1x?xf32, #optc.dims<2 * w - 1>>
  %4 = nn.conv2d %3, %w {pads = array<i64: 0, 1, 0, 2>} : (tensor<1x64x1x?xf32, #optc.dims<2 * w - 1>>, tensor<64x64x1x3xf32>) -> tensor<1x64x1x?xf32, #optc.dims<2 * w>>
  return %4 : tensor<1x64x1x?xf32, #optc.dims<2 * w>>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x64x1x?xf32, #optc.dims<w>>, %arg1: tensor<64x64x1x3xf32>) -> tensor<1x64x1x?xf32, #optc.dims<2 * w>> attributes {optc.stage = "simplify"} {
//     %0 = nn.reshape %arg0 {shape = #optc.dims<1, 64, 1, w, 1>} : (tensor<1x64x1x?xf32, #optc.dims<w>>) -> tensor<1x64x1x?x1xf32, #optc.dims<w>>
//     %1 = nn.reshape %0 {shape = #optc.dims<1, 64, 1, w>} : (tensor<1x64x1x?x1xf32, #optc.dims<w>>) -> tensor<1x64x1x?xf32, #optc.dims<w>>
//     %2 = nn.slice %arg1 {sizes = array<i64: 64, 64, 1, 1>, starts = array<i64: 0, 0, 0, 1>} : (tensor<64x64x1x3xf32>) -> tensor<64x64x1x1xf32>
//     %3 = nn.conv2d %1, %2 {pads = array<i64: 0, 0, 0, 0>} : (tensor<1x64x1x?xf32, #optc.dims<w>>, tensor<64x64x1x1xf32>) -> tensor<1x64x1x?xf32, #optc.dims<w>>
//     %4 = nn.reshape %3 {shape = #optc.dims<1, 64, 1, w, 1>} : (tensor<1x64x1x?xf32, #optc.dims<w>>) -> tensor<1x64x1x?x1xf32, #optc.dims<w>>
//     %5 = nn.slice %arg1 {sizes = array<i64: 64, 64, 1, 2>, starts = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1, 1, 2>} : (tensor<64x64x1x3xf32>) -> tensor<64x64x1x2xf32>
//     %6 = nn.conv2d %1, %5 {pads = array<i64: 0, 0, 0, 1>} : (tensor<1x64x1x?xf32, #optc.dims<w>>, tensor<64x64x1x2xf32>) -> tensor<1x64x1x?xf32, #optc.dims<w>>
//     %7 = nn.reshape %6 {shape = #optc.dims<1, 64, 1, w, 1>} : (tensor<1x64x1x?xf32, #optc.dims<w>>) -> tensor<1x64x1x?x1xf32, #optc.dims<w>>
//     %8 = nn.concat %4, %7 {axis = 4 : i64} : (tensor<1x64x1x?x1xf32, #optc.dims<w>>, tensor<1x64x1x?x1xf32, #optc.dims<w>>) -> tensor<1x64x1x?x2xf32, #optc.dims<w>>
//     %9 = nn.reshape %8 {shape = #optc.dims<1, 64, 1, 2 * w>} : (tensor<1x64x1x?x2xf32, #optc.dims<w>>) -> tensor<1x64x1x?xf32, #optc.dims<2 * w>>
//     return %9 : tensor<1x64x1x?xf32, #optc.dims<2 * w>>
//   }
// }
