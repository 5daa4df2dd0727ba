// RUN: optc --passes=integers
// A window wholly in padding has minus infinity, which no byte is; a scale below zero makes the largest of
// bytes the least of numbers; and floats that are read by something else are there anyway.

func.func @main(%x: tensor<1x8x6x6xui8>) -> (tensor<1x8x4x4xf32>, tensor<1x8x3x3xf32>, tensor<1x8x6x6xf32>, tensor<1x8x3x3xf32>) {
  %s = nn.constant dense<0.5> : tensor<f32>
  %t = nn.constant dense<-0.5> : tensor<f32>
  %0 = nn.cast %x {to = f32} : (tensor<1x8x6x6xui8>) -> tensor<1x8x6x6xf32>
  %1 = nn.mul %0, %s : (tensor<1x8x6x6xf32>, tensor<f32>) -> tensor<1x8x6x6xf32>
  %2 = nn.max_pool2d %1 {kernel = array<i64: 2, 2>, pads = array<i64: 2, 2, 0, 0>, strides = array<i64: 2, 2>} : (tensor<1x8x6x6xf32>) -> tensor<1x8x4x4xf32>
  %3 = nn.mul %0, %t : (tensor<1x8x6x6xf32>, tensor<f32>) -> tensor<1x8x6x6xf32>
  %4 = nn.max_pool2d %3 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x8x6x6xf32>) -> tensor<1x8x3x3xf32>
  %5 = nn.cast %x {to = f32} : (tensor<1x8x6x6xui8>) -> tensor<1x8x6x6xf32>
  %6 = nn.mul %5, %s : (tensor<1x8x6x6xf32>, tensor<f32>) -> tensor<1x8x6x6xf32>
  %7 = nn.max_pool2d %6 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x8x6x6xf32>) -> tensor<1x8x3x3xf32>
  return %2, %4, %6, %7 : tensor<1x8x4x4xf32>, tensor<1x8x3x3xf32>, tensor<1x8x6x6xf32>, tensor<1x8x3x3xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x8x6x6xui8>) -> (tensor<1x8x4x4xf32>, tensor<1x8x3x3xf32>, tensor<1x8x6x6xf32>, tensor<1x8x3x3xf32>) {
//     %0 = nn.constant dense<5.000000e-01> : tensor<f32>
//     %1 = nn.constant dense<-5.000000e-01> : tensor<f32>
//     %2 = nn.cast %arg0 {to = f32} : (tensor<1x8x6x6xui8>) -> tensor<1x8x6x6xf32>
//     %3 = nn.mul %2, %0 : (tensor<1x8x6x6xf32>, tensor<f32>) -> tensor<1x8x6x6xf32>
//     %4 = nn.max_pool2d %3 {kernel = array<i64: 2, 2>, pads = array<i64: 2, 2, 0, 0>, strides = array<i64: 2, 2>} : (tensor<1x8x6x6xf32>) -> tensor<1x8x4x4xf32>
//     %5 = nn.mul %2, %1 : (tensor<1x8x6x6xf32>, tensor<f32>) -> tensor<1x8x6x6xf32>
//     %6 = nn.max_pool2d %5 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x8x6x6xf32>) -> tensor<1x8x3x3xf32>
//     %7 = nn.cast %arg0 {to = f32} : (tensor<1x8x6x6xui8>) -> tensor<1x8x6x6xf32>
//     %8 = nn.mul %7, %0 : (tensor<1x8x6x6xf32>, tensor<f32>) -> tensor<1x8x6x6xf32>
//     %9 = nn.max_pool2d %8 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x8x6x6xf32>) -> tensor<1x8x3x3xf32>
//     return %4, %6, %8, %9 : tensor<1x8x4x4xf32>, tensor<1x8x3x3xf32>, tensor<1x8x6x6xf32>, tensor<1x8x3x3xf32>
//   }
// }
