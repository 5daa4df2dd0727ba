// RUN: optc --passes=integers,simplify,layout,fuse
// A product whose number of rows is a named size is rewritten and fused as one of known sizes.

func.func @main(%x: tensor<?x16xui8, #optc.dims<N>>) -> tensor<?x4xui8, #optc.dims<N>> {
  %w = nn.constant dense<3> : tensor<16x4xi8>
  %s = nn.constant dense<0.5> : tensor<f32>
  %q = nn.constant dense<2.0> : tensor<f32>
  %b = nn.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %0 = nn.cast %x {to = f32} : (tensor<?x16xui8, #optc.dims<N>>) -> tensor<?x16xf32, #optc.dims<N>>
  %1 = nn.mul %0, %s : (tensor<?x16xf32, #optc.dims<N>>, tensor<f32>) -> tensor<?x16xf32, #optc.dims<N>>
  %2 = nn.cast %w {to = f32} : (tensor<16x4xi8>) -> tensor<16x4xf32>
  %3 = nn.mul %2, %s : (tensor<16x4xf32>, tensor<f32>) -> tensor<16x4xf32>
  %4 = nn.matmul %1, %3, %b
    : (tensor<?x16xf32, #optc.dims<N>>, tensor<16x4xf32>, tensor<4xf32>) -> tensor<?x4xf32, #optc.dims<N>>
  %5 = nn.div %4, %q : (tensor<?x4xf32, #optc.dims<N>>, tensor<f32>) -> tensor<?x4xf32, #optc.dims<N>>
  %6 = nn.round %5 : tensor<?x4xf32, #optc.dims<N>>
  %7 = nn.cast %6 {to = ui8} : (tensor<?x4xf32, #optc.dims<N>>) -> tensor<?x4xui8, #optc.dims<N>>
  return %7 : tensor<?x4xui8, #optc.dims<N>>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<?x16xui8, #optc.dims<N>>) -> tensor<?x4xui8, #optc.dims<N>> attributes {optc.stage = "fuse"} {
//     %0 = nn.constant dense<3> : tensor<16x4xi8>
//     %1 = nn.constant dense<0> : tensor<ui8>
//     %2 = nn.constant dense<0> : tensor<i8>
//     %3 = nn.constant dense<1.250000e-01> : tensor<f32>
//     %4 = nn.constant dense<[5.000000e-01, 1.000000e+00, 1.500000e+00, 2.000000e+00]> : tensor<4xf32>
//     %5 = optc.group(%arg1 = %arg0, %arg2 = %0, %arg3 = %1, %arg4 = %2, %arg5 = %3, %arg6 = %4) : (tensor<?x16xui8, #optc.dims<N>>, tensor<16x4xi8>, tensor<ui8>, tensor<i8>, tensor<f32>, tensor<4xf32>) -> tensor<?x4xui8, #optc.dims<N>> {
//       %6 = nn.quantized_matmul %arg1, %arg2, %arg3, %arg4 : (tensor<?x16xui8, #optc.dims<N>>, tensor<16x4xi8>, tensor<ui8>, tensor<i8>) -> tensor<?x4xi32, #optc.dims<N>>
//       %7 = nn.cast %6 {to = f32} : (tensor<?x4xi32, #optc.dims<N>>) -> tensor<?x4xf32, #optc.dims<N>>
//       %8 = nn.mul %7, %arg5 : (tensor<?x4xf32, #optc.dims<N>>, tensor<f32>) -> tensor<?x4xf32, #optc.dims<N>>
//       %9 = nn.add %8, %arg6 : (tensor<?x4xf32, #optc.dims<N>>, tensor<4xf32>) -> tensor<?x4xf32, #optc.dims<N>>
//       %10 = nn.round %9 : tensor<?x4xf32, #optc.dims<N>>
//       %11 = nn.cast %10 {to = ui8} : (tensor<?x4xf32, #optc.dims<N>>) -> tensor<?x4xui8, #optc.dims<N>>
//       optc.yield %11 : tensor<?x4xui8, #optc.dims<N>>
//     }
//     return %5 : tensor<?x4xui8, #optc.dims<N>>
//   }
// }
