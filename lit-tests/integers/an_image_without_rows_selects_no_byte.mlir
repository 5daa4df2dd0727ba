// RUN: optc --passes=integers
// The windows of an image without rows have no elements: minus infinity, which no byte is. A zero point that
// is no byte may give zeros with a sign, which bytes have not.

func.func @main(%x: tensor<1x8x0x6xui8>, %y: tensor<1x8x2x2xui8>) -> (tensor<1x8x1x7xf32>, tensor<1x8x1x1xf32>) {
  %s = nn.constant dense<0.5> : tensor<f32>
  %z = nn.constant dense<0.5> : tensor<f32>
  %0 = nn.cast %x {to = f32} : (tensor<1x8x0x6xui8>) -> tensor<1x8x0x6xf32>
  %1 = nn.mul %0, %s : (tensor<1x8x0x6xf32>, tensor<f32>) -> tensor<1x8x0x6xf32>
  %2 = nn.max_pool2d %1 {kernel = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x0x6xf32>) -> tensor<1x8x1x7xf32>
  %3 = nn.cast %y {to = f32} : (tensor<1x8x2x2xui8>) -> tensor<1x8x2x2xf32>
  %4 = nn.sub %3, %z : (tensor<1x8x2x2xf32>, tensor<f32>) -> tensor<1x8x2x2xf32>
  %5 = nn.mul %4, %s : (tensor<1x8x2x2xf32>, tensor<f32>) -> tensor<1x8x2x2xf32>
  %6 = nn.max_pool2d %5 {kernel = array<i64: 2, 2>} : (tensor<1x8x2x2xf32>) -> tensor<1x8x1x1xf32>
  return %2, %6 : tensor<1x8x1x7xf32>, tensor<1x8x1x1xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x8x0x6xui8>, %arg1: tensor<1x8x2x2xui8>) -> (tensor<1x8x1x7xf32>, tensor<1x8x1x1xf32>) {
//     %0 = nn.constant dense<5.000000e-01> : tensor<f32>
//     %1 = nn.constant dense<5.000000e-01> : tensor<f32>
//     %2 = nn.cast %arg0 {to = f32} : (tensor<1x8x0x6xui8>) -> tensor<1x8x0x6xf32>
//     %3 = nn.mul %2, %0 : (tensor<1x8x0x6xf32>, tensor<f32>) -> tensor<1x8x0x6xf32>
//     %4 = nn.max_pool2d %3 {kernel = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x0x6xf32>) -> tensor<1x8x1x7xf32>
//     %5 = nn.cast %arg1 {to = f32} : (tensor<1x8x2x2xui8>) -> tensor<1x8x2x2xf32>
//     %6 = nn.sub %5, %1 : (tensor<1x8x2x2xf32>, tensor<f32>) -> tensor<1x8x2x2xf32>
//     %7 = nn.mul %6, %0 : (tensor<1x8x2x2xf32>, tensor<f32>) -> tensor<1x8x2x2xf32>
//     %8 = nn.max_pool2d %7 {kernel = array<i64: 2, 2>} : (tensor<1x8x2x2xf32>) -> tensor<1x8x1x1xf32>
//     return %4, %8 : tensor<1x8x1x7xf32>, tensor<1x8x1x1xf32>
//   }
// }
