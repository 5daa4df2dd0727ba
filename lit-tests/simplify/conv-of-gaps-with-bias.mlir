// RUN: optc --passes='simplify{laws=conv-of-gaps-with-bias}'
// The law that a convolution of an image with two rows of zeros after each is three convolutions. Its filter
// has two rows, so that the last of three rows meets only zeros: it is the bias. Columns have no gaps.

func.func @main(%x: tensor<1x64x8x1x8xf32>, %w: tensor<64x64x2x1xf32>, %b: tensor<64xf32>) -> tensor<1x64x23x8xf32> {
  %0 = nn.pad %x {low = array<i64: 0, 0, 0, 0, 0>, high = array<i64: 0, 0, 0, 2, 0>} : (tensor<1x64x8x1x8xf32>) -> tensor<1x64x8x3x8xf32>
  %1 = nn.reshape %0 {shape = array<i64: 1, 64, 24, 8>} : (tensor<1x64x8x3x8xf32>) -> tensor<1x64x24x8xf32>
  %2 = nn.slice %1 {starts = array<i64: 0, 0, 0, 0>, sizes = array<i64: 1, 64, 22, 8>} : (tensor<1x64x24x8xf32>) -> tensor<1x64x22x8xf32>
  %3 = nn.conv2d %2, %w, %b {pads = array<i64: 1, 0, 1, 0>} : (tensor<1x64x22x8xf32>, tensor<64x64x2x1xf32>, tensor<64xf32>) -> tensor<1x64x23x8xf32>
  return %3 : tensor<1x64x23x8xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x64x8x1x8xf32>, %arg1: tensor<64x64x2x1xf32>, %arg2: tensor<64xf32>) -> tensor<1x64x23x8xf32> attributes {optc.stage = "simplify"} {
//     %0 = nn.reshape %arg0 {shape = array<i64: 1, 64, 8, 8>} : (tensor<1x64x8x1x8xf32>) -> tensor<1x64x8x8xf32>
//     %1 = nn.slice %arg1 {sizes = array<i64: 64, 64, 1, 1>, starts = array<i64: 0, 0, 1, 0>} : (tensor<64x64x2x1xf32>) -> tensor<64x64x1x1xf32>
//     %2 = nn.conv2d %0, %1, %arg2 {pads = array<i64: 0, 0, 0, 0>} : (tensor<1x64x8x8xf32>, tensor<64x64x1x1xf32>, tensor<64xf32>) -> tensor<1x64x8x8xf32>
//     %3 = nn.reshape %2 {shape = array<i64: 1, 64, 8, 1, 8>} : (tensor<1x64x8x8xf32>) -> tensor<1x64x8x1x8xf32>
//     %4 = nn.slice %arg1 {sizes = array<i64: 64, 64, 1, 1>, starts = array<i64: 0, 0, 0, 0>} : (tensor<64x64x2x1xf32>) -> tensor<64x64x1x1xf32>
//     %5 = nn.conv2d %0, %4, %arg2 {pads = array<i64: 0, 0, 0, 0>} : (tensor<1x64x8x8xf32>, tensor<64x64x1x1xf32>, tensor<64xf32>) -> tensor<1x64x8x8xf32>
//     %6 = nn.reshape %5 {shape = array<i64: 1, 64, 8, 1, 8>} : (tensor<1x64x8x8xf32>) -> tensor<1x64x8x1x8xf32>
//     %7 = nn.reshape %arg2 {shape = array<i64: 1, 64, 1, 1, 1>} : (tensor<64xf32>) -> tensor<1x64x1x1x1xf32>
//     %8 = nn.broadcast %7 {shape = array<i64: 1, 64, 8, 1, 8>} : (tensor<1x64x1x1x1xf32>) -> tensor<1x64x8x1x8xf32>
//     %9 = nn.concat %3, %6, %8 {axis = 3 : i64} : (tensor<1x64x8x1x8xf32>, tensor<1x64x8x1x8xf32>, tensor<1x64x8x1x8xf32>) -> tensor<1x64x8x3x8xf32>
//     %10 = nn.reshape %9 {shape = array<i64: 1, 64, 24, 8>} : (tensor<1x64x8x3x8xf32>) -> tensor<1x64x24x8xf32>
//     %11 = nn.slice %10 {sizes = array<i64: 1, 64, 23, 8>, starts = array<i64: 0, 0, 0, 0>} : (tensor<1x64x24x8xf32>) -> tensor<1x64x23x8xf32>
//     return %11 : tensor<1x64x23x8xf32>
//   }
// }
