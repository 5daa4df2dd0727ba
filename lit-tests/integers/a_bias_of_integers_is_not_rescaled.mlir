// RUN: optc --passes=integers
// The bias of a product may be of another type, which is for the interpreter to refuse.

func.func @main(%x: tensor<4x16xui8>) -> tensor<1x4x8xf32> {
  %w = nn.constant dense<3> : tensor<16x8xi8>
  %s = nn.constant dense<0.5> : tensor<f32>
  %b = nn.constant dense<5> : tensor<8xi32>
  %q = nn.constant dense<0.25> : tensor<1x1x1xf32>
  %0 = nn.cast %x {to = f32} : (tensor<4x16xui8>) -> tensor<4x16xf32>
  %3 = nn.mul %0, %s : (tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
  %4 = nn.cast %w {to = f32} : (tensor<16x8xi8>) -> tensor<16x8xf32>
  %6 = nn.mul %4, %s : (tensor<16x8xf32>, tensor<f32>) -> tensor<16x8xf32>
  %7 = nn.matmul %3, %6, %b : (tensor<4x16xf32>, tensor<16x8xf32>, tensor<8xi32>) -> tensor<4x8xf32>
  %8 = nn.relu %7 : tensor<4x8xf32>
  %9 = nn.div %8, %q : (tensor<4x8xf32>, tensor<1x1x1xf32>) -> tensor<1x4x8xf32>
  return %9 : tensor<1x4x8xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<4x16xui8>) -> tensor<1x4x8xf32> {
//     %0 = nn.constant dense<3> : tensor<16x8xi8>
//     %1 = nn.constant dense<5.000000e-01> : tensor<f32>
//     %2 = nn.constant dense<5> : tensor<8xi32>
//     %3 = nn.constant dense<2.500000e-01> : tensor<1x1x1xf32>
//     %4 = nn.cast %arg0 {to = f32} : (tensor<4x16xui8>) -> tensor<4x16xf32>
//     %5 = nn.mul %4, %1 : (tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
//     %6 = nn.cast %0 {to = f32} : (tensor<16x8xi8>) -> tensor<16x8xf32>
//     %7 = nn.mul %6, %1 : (tensor<16x8xf32>, tensor<f32>) -> tensor<16x8xf32>
//     %8 = nn.matmul %5, %7, %2 : (tensor<4x16xf32>, tensor<16x8xf32>, tensor<8xi32>) -> tensor<4x8xf32>
//     %9 = nn.relu %8 : tensor<4x8xf32>
//     %10 = nn.div %9, %3 : (tensor<4x8xf32>, tensor<1x1x1xf32>) -> tensor<1x4x8xf32>
//     return %10 : tensor<1x4x8xf32>
//   }
// }
