// RUN: optc --passes=integers
// Reshapes and transposes move bytes, and their result is dequantized, except where the floats have another
// reader, where a scale or a zero point for each row would have to be transposed, where a broadcast has more
// of them, or where a view reads the bits of floats.

func.func @main(%x: tensor<4x6xui8>, %y: tensor<1x6xui8>)
    -> (tensor<6x4xf32>, tensor<24xf32>, tensor<4x6xf32>, tensor<6x4xf32>, tensor<5x6xf32>,
        tensor<4x6xf32>, tensor<6x4xf32>) {
  %z = nn.constant dense<128> : tensor<ui8>
  %s = nn.constant dense<0.5> : tensor<f32>
  %t = nn.constant dense<0.5> : tensor<4x1xf32>
  %0 = nn.cast %z {to = f32} : (tensor<ui8>) -> tensor<f32>
  %1 = nn.cast %x {to = f32} : (tensor<4x6xui8>) -> tensor<4x6xf32>
  %2 = nn.sub %1, %0 : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
  %3 = nn.mul %2, %s : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
  %4 = nn.transpose %3 {permutation = array<i64: 1, 0>} : (tensor<4x6xf32>) -> tensor<6x4xf32>
  %5 = nn.cast %x {to = f32} : (tensor<4x6xui8>) -> tensor<4x6xf32>
  %6 = nn.mul %5, %s : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
  %7 = nn.reshape %6 {shape = array<i64: 24>} : (tensor<4x6xf32>) -> tensor<24xf32>
  %8 = nn.mul %5, %t : (tensor<4x6xf32>, tensor<4x1xf32>) -> tensor<4x6xf32>
  %9 = nn.transpose %8 {permutation = array<i64: 1, 0>} : (tensor<4x6xf32>) -> tensor<6x4xf32>
  %10 = nn.cast %y {to = f32} : (tensor<1x6xui8>) -> tensor<1x6xf32>
  %11 = nn.mul %10, %s : (tensor<1x6xf32>, tensor<f32>) -> tensor<1x6xf32>
  %12 = nn.broadcast %11 {shape = array<i64: 5, 6>} : (tensor<1x6xf32>) -> tensor<5x6xf32>
  %13 = nn.cast %x {to = f32} : (tensor<4x6xui8>) -> tensor<4x6xf32>
  %14 = nn.mul %13, %s : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
  %15 = nn.bitcast %14 {to = f32} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %zs = nn.constant dense<128> : tensor<4x1xui8>
  %16 = nn.cast %zs {to = f32} : (tensor<4x1xui8>) -> tensor<4x1xf32>
  %17 = nn.cast %x {to = f32} : (tensor<4x6xui8>) -> tensor<4x6xf32>
  %18 = nn.sub %17, %16 : (tensor<4x6xf32>, tensor<4x1xf32>) -> tensor<4x6xf32>
  %19 = nn.mul %18, %s : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
  %20 = nn.transpose %19 {permutation = array<i64: 1, 0>} : (tensor<4x6xf32>) -> tensor<6x4xf32>
  return %4, %7, %6, %9, %12, %15, %20
    : tensor<6x4xf32>, tensor<24xf32>, tensor<4x6xf32>, tensor<6x4xf32>, tensor<5x6xf32>, tensor<4x6xf32>,
      tensor<6x4xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<4x6xui8>, %arg1: tensor<1x6xui8>) -> (tensor<6x4xf32>, tensor<24xf32>, tensor<4x6xf32>, tensor<6x4xf32>, tensor<5x6xf32>, tensor<4x6xf32>, tensor<6x4xf32>) {
//     %0 = nn.constant dense<128> : tensor<ui8>
//     %1 = nn.constant dense<5.000000e-01> : tensor<f32>
//     %2 = nn.constant dense<5.000000e-01> : tensor<4x1xf32>
//     %3 = nn.cast %0 {to = f32} : (tensor<ui8>) -> tensor<f32>
//     %4 = nn.transpose %arg0 {permutation = array<i64: 1, 0>} : (tensor<4x6xui8>) -> tensor<6x4xui8>
//     %5 = nn.cast %4 {to = f32} : (tensor<6x4xui8>) -> tensor<6x4xf32>
//     %6 = nn.sub %5, %3 : (tensor<6x4xf32>, tensor<f32>) -> tensor<6x4xf32>
//     %7 = nn.mul %6, %1 : (tensor<6x4xf32>, tensor<f32>) -> tensor<6x4xf32>
//     %8 = nn.cast %arg0 {to = f32} : (tensor<4x6xui8>) -> tensor<4x6xf32>
//     %9 = nn.mul %8, %1 : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
//     %10 = nn.reshape %9 {shape = array<i64: 24>} : (tensor<4x6xf32>) -> tensor<24xf32>
//     %11 = nn.mul %8, %2 : (tensor<4x6xf32>, tensor<4x1xf32>) -> tensor<4x6xf32>
//     %12 = nn.transpose %11 {permutation = array<i64: 1, 0>} : (tensor<4x6xf32>) -> tensor<6x4xf32>
//     %13 = nn.cast %arg1 {to = f32} : (tensor<1x6xui8>) -> tensor<1x6xf32>
//     %14 = nn.mul %13, %1 : (tensor<1x6xf32>, tensor<f32>) -> tensor<1x6xf32>
//     %15 = nn.broadcast %14 {shape = array<i64: 5, 6>} : (tensor<1x6xf32>) -> tensor<5x6xf32>
//     %16 = nn.cast %arg0 {to = f32} : (tensor<4x6xui8>) -> tensor<4x6xf32>
//     %17 = nn.mul %16, %1 : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
//     %18 = nn.bitcast %17 {to = f32} : tensor<4x6xf32>
//     %19 = nn.constant dense<128> : tensor<4x1xui8>
//     %20 = nn.cast %19 {to = f32} : (tensor<4x1xui8>) -> tensor<4x1xf32>
//     %21 = nn.cast %arg0 {to = f32} : (tensor<4x6xui8>) -> tensor<4x6xf32>
//     %22 = nn.sub %21, %20 : (tensor<4x6xf32>, tensor<4x1xf32>) -> tensor<4x6xf32>
//     %23 = nn.mul %22, %1 : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
//     %24 = nn.transpose %23 {permutation = array<i64: 1, 0>} : (tensor<4x6xf32>) -> tensor<6x4xf32>
//     return %7, %10, %9, %12, %15, %18, %24 : tensor<6x4xf32>, tensor<24xf32>, tensor<4x6xf32>, tensor<6x4xf32>, tensor<5x6xf32>, tensor<4x6xf32>, tensor<6x4xf32>
//   }
// }
