// RUN: optc --passes=integers
// Windows that may lie wholly in padding: as high as the padding above, and with gaps around an image of one
// row. So small a scale loses digits.

func.func @main(%x: tensor<1x8x1x6xui8>) -> (tensor<1x8x2x5xf32>, tensor<1x8x1x6xf32>, tensor<1x8x1x5xf32>) {
  %s = nn.constant dense<0.5> : tensor<f32>
  %t = nn.constant dense<1.0e-44> : tensor<f32>
  %0 = nn.cast %x {to = f32} : (tensor<1x8x1x6xui8>) -> tensor<1x8x1x6xf32>
  %1 = nn.mul %0, %s : (tensor<1x8x1x6xf32>, tensor<f32>) -> tensor<1x8x1x6xf32>
  %2 = nn.max_pool2d %1 {kernel = array<i64: 2, 2>, pads = array<i64: 2, 0, 0, 0>} : (tensor<1x8x1x6xf32>) -> tensor<1x8x2x5xf32>
  %3 = nn.cast %x {to = f32} : (tensor<1x8x1x6xui8>) -> tensor<1x8x1x6xf32>
  %4 = nn.mul %3, %s : (tensor<1x8x1x6xf32>, tensor<f32>) -> tensor<1x8x1x6xf32>
  %5 = nn.max_pool2d %4 {dilations = array<i64: 2, 2>, kernel = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x1x6xf32>) -> tensor<1x8x1x6xf32>
  %6 = nn.mul %3, %t : (tensor<1x8x1x6xf32>, tensor<f32>) -> tensor<1x8x1x6xf32>
  %7 = nn.max_pool2d %6 {kernel = array<i64: 1, 2>} : (tensor<1x8x1x6xf32>) -> tensor<1x8x1x5xf32>
  return %2, %5, %7 : tensor<1x8x2x5xf32>, tensor<1x8x1x6xf32>, tensor<1x8x1x5xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x8x1x6xui8>) -> (tensor<1x8x2x5xf32>, tensor<1x8x1x6xf32>, tensor<1x8x1x5xf32>) {
//     %0 = nn.constant dense<5.000000e-01> : tensor<f32>
//     %1 = nn.constant dense<9.809080e-45> : tensor<f32>
//     %2 = nn.cast %arg0 {to = f32} : (tensor<1x8x1x6xui8>) -> tensor<1x8x1x6xf32>
//     %3 = nn.mul %2, %0 : (tensor<1x8x1x6xf32>, tensor<f32>) -> tensor<1x8x1x6xf32>
//     %4 = nn.max_pool2d %3 {kernel = array<i64: 2, 2>, pads = array<i64: 2, 0, 0, 0>} : (tensor<1x8x1x6xf32>) -> tensor<1x8x2x5xf32>
//     %5 = nn.cast %arg0 {to = f32} : (tensor<1x8x1x6xui8>) -> tensor<1x8x1x6xf32>
//     %6 = nn.mul %5, %0 : (tensor<1x8x1x6xf32>, tensor<f32>) -> tensor<1x8x1x6xf32>
//     %7 = nn.max_pool2d %6 {dilations = array<i64: 2, 2>, kernel = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>} : tensor<1x8x1x6xf32>
//     %8 = nn.mul %5, %1 : (tensor<1x8x1x6xf32>, tensor<f32>) -> tensor<1x8x1x6xf32>
//     %9 = nn.max_pool2d %8 {kernel = array<i64: 1, 2>} : (tensor<1x8x1x6xf32>) -> tensor<1x8x1x5xf32>
//     return %4, %7, %9 : tensor<1x8x2x5xf32>, tensor<1x8x1x6xf32>, tensor<1x8x1x5xf32>
//   }
// }
