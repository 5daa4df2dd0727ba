// RUN: optc --passes=integers,fuse
// The end of a block with a residual: the product's bytes are made floats again, the other bytes are added,
// and the division of their sum is that of their scales. All of it is one step.

func.func @main(%x: tensor<2x16xui8>, %r: tensor<2x4xui8>) -> tensor<2x4xui8> {
  %w = nn.constant dense<3> : tensor<16x4xi8>
  %z = nn.constant dense<128> : tensor<ui8>
  %s = nn.constant dense<0.5> : tensor<f32>
  %q = nn.constant dense<2.0> : tensor<f32>
  %p = nn.constant dense<7.0> : tensor<f32>
  %0 = nn.cast %x {to = f32} : (tensor<2x16xui8>) -> tensor<2x16xf32>
  %1 = nn.cast %z {to = f32} : (tensor<ui8>) -> tensor<f32>
  %2 = nn.sub %0, %1 : (tensor<2x16xf32>, tensor<f32>) -> tensor<2x16xf32>
  %3 = nn.mul %2, %s : (tensor<2x16xf32>, tensor<f32>) -> tensor<2x16xf32>
  %4 = nn.cast %w {to = f32} : (tensor<16x4xi8>) -> tensor<16x4xf32>
  %5 = nn.mul %4, %s : (tensor<16x4xf32>, tensor<f32>) -> tensor<16x4xf32>
  %6 = nn.matmul %3, %5 : (tensor<2x16xf32>, tensor<16x4xf32>) -> tensor<2x4xf32>
  %7 = nn.div %6, %q : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %8 = nn.round %7 : tensor<2x4xf32>
  %9 = nn.add %8, %p : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %10 = nn.cast %9 {to = ui8} : (tensor<2x4xf32>) -> tensor<2x4xui8>
  %11 = nn.cast %10 {to = f32} : (tensor<2x4xui8>) -> tensor<2x4xf32>
  %12 = nn.sub %11, %p : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %13 = nn.mul %12, %q : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %14 = nn.cast %r {to = f32} : (tensor<2x4xui8>) -> tensor<2x4xf32>
  %15 = nn.mul %14, %s : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %16 = nn.add %13, %15 : tensor<2x4xf32>
  %17 = nn.relu %16 : tensor<2x4xf32>
  %18 = nn.div %17, %q : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %19 = nn.round %18 : tensor<2x4xf32>
  %20 = nn.cast %19 {to = ui8} : (tensor<2x4xf32>) -> tensor<2x4xui8>
  return %20 : tensor<2x4xui8>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<2x16xui8>, %arg1: tensor<2x4xui8>) -> tensor<2x4xui8> attributes {optc.stage = "fuse"} {
//     %0 = nn.constant dense<3> : tensor<16x4xi8>
//     %1 = nn.constant dense<128> : tensor<ui8>
//     %2 = nn.constant dense<5.000000e-01> : tensor<f32>
//     %3 = nn.constant dense<2.000000e+00> : tensor<f32>
//     %4 = nn.constant dense<7.000000e+00> : tensor<f32>
//     %5 = nn.constant dense<0> : tensor<i8>
//     %6 = nn.mul %2, %2 : tensor<f32>
//     %7 = nn.div %6, %3 : tensor<f32>
//     %8 = nn.div %3, %3 : tensor<f32>
//     %9 = nn.div %2, %3 : tensor<f32>
//     %10 = optc.group(%arg2 = %arg0, %arg3 = %0, %arg4 = %1, %arg5 = %5, %arg6 = %7, %arg7 = %4, %arg8 = %arg1, %arg9 = %8, %arg10 = %9) : (tensor<2x16xui8>, tensor<16x4xi8>, tensor<ui8>, tensor<i8>, tensor<f32>, tensor<f32>, tensor<2x4xui8>, tensor<f32>, tensor<f32>) -> tensor<2x4xui8> {
//       %11 = nn.quantized_matmul %arg2, %arg3, %arg4, %arg5 : (tensor<2x16xui8>, tensor<16x4xi8>, tensor<ui8>, tensor<i8>) -> tensor<2x4xi32>
//       %12 = nn.cast %11 {to = f32} : (tensor<2x4xi32>) -> tensor<2x4xf32>
//       %13 = nn.mul %12, %arg6 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
//       %14 = nn.round %13 : tensor<2x4xf32>
//       %15 = nn.add %14, %arg7 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
//       %16 = nn.cast %15 {to = ui8} : (tensor<2x4xf32>) -> tensor<2x4xui8>
//       %17 = nn.cast %16 {to = f32} : (tensor<2x4xui8>) -> tensor<2x4xf32>
//       %18 = nn.sub %17, %arg7 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
//       %19 = nn.cast %arg8 {to = f32} : (tensor<2x4xui8>) -> tensor<2x4xf32>
//       %20 = nn.mul %18, %arg9 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
//       %21 = nn.mul %19, %arg10 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
//       %22 = nn.add %20, %21 : tensor<2x4xf32>
//       %23 = nn.relu %22 : tensor<2x4xf32>
//       %24 = nn.round %23 : tensor<2x4xf32>
//       %25 = nn.cast %24 {to = ui8} : (tensor<2x4xf32>) -> tensor<2x4xui8>
//       optc.yield %25 : tensor<2x4xui8>
//     }
//     return %10 : tensor<2x4xui8>
//   }
// }
