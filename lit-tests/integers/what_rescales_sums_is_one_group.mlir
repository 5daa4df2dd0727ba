// RUN: optc --passes=integers,simplify,layout,fuse
// All from the sums of integers to the bytes that are stored is one step: floats exist in registers only.

func.func @main(%x: tensor<1x8x6x6xui8>) -> tensor<1x4x6x6xui8> {
  %w = nn.constant dense<3> : tensor<4x8x3x3xi8>
  %xz = nn.constant dense<128> : tensor<ui8>
  %xs = nn.constant dense<0.5> : tensor<f32>
  %ws = nn.constant dense<[0.5, 0.25, 1.0, 2.0]> : tensor<4xf32>
  %b = nn.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %ys = nn.constant dense<8.0> : tensor<f32>
  %yz = nn.constant dense<10.0> : tensor<f32>
  %0 = nn.cast %x {to = f32} : (tensor<1x8x6x6xui8>) -> tensor<1x8x6x6xf32>
  %1 = nn.cast %xz {to = f32} : (tensor<ui8>) -> tensor<f32>
  %2 = nn.sub %0, %1 : (tensor<1x8x6x6xf32>, tensor<f32>) -> tensor<1x8x6x6xf32>
  %3 = nn.mul %2, %xs : (tensor<1x8x6x6xf32>, tensor<f32>) -> tensor<1x8x6x6xf32>
  %4 = nn.cast %w {to = f32} : (tensor<4x8x3x3xi8>) -> tensor<4x8x3x3xf32>
  %5 = nn.reshape %ws {shape = array<i64: 4, 1, 1, 1>} : (tensor<4xf32>) -> tensor<4x1x1x1xf32>
  %6 = nn.mul %4, %5 : (tensor<4x8x3x3xf32>, tensor<4x1x1x1xf32>) -> tensor<4x8x3x3xf32>
  %7 = nn.conv2d %3, %6, %b {pads = array<i64: 1, 1, 1, 1>}
    : (tensor<1x8x6x6xf32>, tensor<4x8x3x3xf32>, tensor<4xf32>) -> tensor<1x4x6x6xf32>
  %8 = nn.relu %7 : tensor<1x4x6x6xf32>
  %9 = nn.div %8, %ys : (tensor<1x4x6x6xf32>, tensor<f32>) -> tensor<1x4x6x6xf32>
  %10 = nn.round %9 : tensor<1x4x6x6xf32>
  %11 = nn.add %10, %yz : (tensor<1x4x6x6xf32>, tensor<f32>) -> tensor<1x4x6x6xf32>
  %12 = nn.clip %11 {hi = 255.0 : f32, lo = 0.0 : f32} : tensor<1x4x6x6xf32>
  %13 = nn.cast %12 {to = ui8} : (tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xui8>
  return %13 : tensor<1x4x6x6xui8>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x8x6x6xui8>) -> tensor<1x4x6x6xui8> attributes {optc.stage = "fuse"} {
//     %0 = nn.constant dense<3> : tensor<4x8x3x3xi8>
//     %1 = nn.constant dense<128> : tensor<ui8>
//     %2 = nn.constant dense<1.000000e+01> : tensor<f32>
//     %3 = nn.constant dense<0> : tensor<i8>
//     %4 = nn.transpose %arg0 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x8x6x6xui8>) -> tensor<1x6x6x8xui8>
//     %5 = nn.constant dense<[[[3.125000e-02]], [[1.562500e-02]], [[6.250000e-02]], [[1.250000e-01]]]> : tensor<4x1x1xf32>
//     %6 = nn.constant dense<[[[1.250000e-01]], [[2.500000e-01]], [[3.750000e-01]], [[5.000000e-01]]]> : tensor<4x1x1xf32>
//     %7 = nn.reshape %5 {shape = array<i64: 1, 4, 1, 1>} : (tensor<4x1x1xf32>) -> tensor<1x4x1x1xf32>
//     %8 = nn.reshape %7 {shape = array<i64: 1, 1, 1, 4>} : (tensor<1x4x1x1xf32>) -> tensor<1x1x1x4xf32>
//     %9 = nn.reshape %6 {shape = array<i64: 1, 4, 1, 1>} : (tensor<4x1x1xf32>) -> tensor<1x4x1x1xf32>
//     %10 = nn.reshape %9 {shape = array<i64: 1, 1, 1, 4>} : (tensor<1x4x1x1xf32>) -> tensor<1x1x1x4xf32>
//     %11 = nn.reshape %2 {shape = array<i64: 1, 1, 1, 1>} : (tensor<f32>) -> tensor<1x1x1x1xf32>
//     %12 = nn.reshape %11 {shape = array<i64: 1, 1, 1, 1>} : tensor<1x1x1x1xf32>
//     %13 = optc.group(%arg1 = %4, %arg2 = %0, %arg3 = %1, %arg4 = %3, %arg5 = %8, %arg6 = %10, %arg7 = %12) : (tensor<1x6x6x8xui8>, tensor<4x8x3x3xi8>, tensor<ui8>, tensor<i8>, tensor<1x1x1x4xf32>, tensor<1x1x1x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x6x6x4xui8> {
//       %15 = nn.quantized_conv2d %arg1, %arg2, %arg3, %arg4 {layout = "NHWC", pads = array<i64: 1, 1, 1, 1>} : (tensor<1x6x6x8xui8>, tensor<4x8x3x3xi8>, tensor<ui8>, tensor<i8>) -> tensor<1x6x6x4xi32>
//       %16 = nn.cast %15 {to = f32} : (tensor<1x6x6x4xi32>) -> tensor<1x6x6x4xf32>
//       %17 = nn.mul %16, %arg5 : (tensor<1x6x6x4xf32>, tensor<1x1x1x4xf32>) -> tensor<1x6x6x4xf32>
//       %18 = nn.add %17, %arg6 : (tensor<1x6x6x4xf32>, tensor<1x1x1x4xf32>) -> tensor<1x6x6x4xf32>
//       %19 = nn.relu %18 : tensor<1x6x6x4xf32>
//       %20 = nn.round %19 : tensor<1x6x6x4xf32>
//       %21 = nn.add %20, %arg7 : (tensor<1x6x6x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x6x6x4xf32>
//       %22 = nn.clip %21 {hi = 2.550000e+02 : f32, lo = 0.000000e+00 : f32} : tensor<1x6x6x4xf32>
//       %23 = nn.cast %22 {to = ui8} : (tensor<1x6x6x4xf32>) -> tensor<1x6x6x4xui8>
//       optc.yield %23 : tensor<1x6x6x4xui8>
//     }
//     %14 = nn.transpose %13 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x6x6x4xui8>) -> tensor<1x4x6x6xui8>
//     return %14 : tensor<1x4x6x6xui8>
//   }
// }
