// RUN: optc --passes=simplify,layout,fuse
// As GPT-2 is exported: products of rows in one axis, everything else in two. The reshapes go, so that bias,
// GELU in its tanh form and the residual are done in the products' last step.

func.func @main(%x: tensor<1x6x8xf32>) -> tensor<1x6x8xf32> {
  %w = nn.constant dense<0.5> : tensor<8x16xf32>
  %b = nn.constant dense<0.1> : tensor<16xf32>
  %v = nn.constant dense<0.25> : tensor<16x8xf32>
  %c = nn.constant dense<0.2> : tensor<8xf32>
  %three = nn.constant dense<3.0> : tensor<f32>
  %k = nn.constant dense<0.044715> : tensor<f32>
  %r = nn.constant dense<0.797884583> : tensor<f32>
  %h = nn.constant dense<0.5> : tensor<f32>
  %o = nn.constant dense<1.0> : tensor<f32>
  %0 = nn.reshape %x {shape = array<i64: 6, 8>} : (tensor<1x6x8xf32>) -> tensor<6x8xf32>
  %1 = nn.matmul %0, %w, %b : (tensor<6x8xf32>, tensor<8x16xf32>, tensor<16xf32>) -> tensor<6x16xf32>
  %2 = nn.reshape %1 {shape = array<i64: 1, 6, 16>} : (tensor<6x16xf32>) -> tensor<1x6x16xf32>
  %3 = nn.mul %2, %h : (tensor<1x6x16xf32>, tensor<f32>) -> tensor<1x6x16xf32>
  %4 = nn.pow %2, %three : (tensor<1x6x16xf32>, tensor<f32>) -> tensor<1x6x16xf32>
  %5 = nn.mul %4, %k : (tensor<1x6x16xf32>, tensor<f32>) -> tensor<1x6x16xf32>
  %6 = nn.add %2, %5 : tensor<1x6x16xf32>
  %7 = nn.mul %6, %r : (tensor<1x6x16xf32>, tensor<f32>) -> tensor<1x6x16xf32>
  %8 = nn.tanh %7 : tensor<1x6x16xf32>
  %9 = nn.add %8, %o : (tensor<1x6x16xf32>, tensor<f32>) -> tensor<1x6x16xf32>
  %10 = nn.mul %3, %9 : tensor<1x6x16xf32>
  %11 = nn.reshape %10 {shape = array<i64: 6, 16>} : (tensor<1x6x16xf32>) -> tensor<6x16xf32>
  %12 = nn.matmul %11, %v, %c : (tensor<6x16xf32>, tensor<16x8xf32>, tensor<8xf32>) -> tensor<6x8xf32>
  %13 = nn.reshape %12 {shape = array<i64: 1, 6, 8>} : (tensor<6x8xf32>) -> tensor<1x6x8xf32>
  %14 = nn.add %x, %13 : tensor<1x6x8xf32>
  return %14 : tensor<1x6x8xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x6x8xf32>) -> tensor<1x6x8xf32> attributes {optc.stage = "fuse"} {
//     %0 = nn.constant dense<5.000000e-01> : tensor<8x16xf32>
//     %1 = nn.constant dense<1.000000e-01> : tensor<16xf32>
//     %2 = nn.constant dense<2.500000e-01> : tensor<16x8xf32>
//     %3 = nn.constant dense<2.000000e-01> : tensor<8xf32>
//     %4 = optc.group(%arg1 = %arg0, %arg2 = %0, %arg3 = %1) : (tensor<1x6x8xf32>, tensor<8x16xf32>, tensor<16xf32>) -> tensor<1x6x16xf32> {
//       %6 = nn.matmul %arg1, %arg2, %arg3 : (tensor<1x6x8xf32>, tensor<8x16xf32>, tensor<16xf32>) -> tensor<1x6x16xf32>
//       %7 = nn.gelu_tanh %6 : tensor<1x6x16xf32>
//       optc.yield %7 : tensor<1x6x16xf32>
//     }
//     %5 = optc.group(%arg1 = %4, %arg2 = %2, %arg3 = %3, %arg4 = %arg0) : (tensor<1x6x16xf32>, tensor<16x8xf32>, tensor<8xf32>, tensor<1x6x8xf32>) -> tensor<1x6x8xf32> {
//       %6 = nn.matmul %arg1, %arg2, %arg3 : (tensor<1x6x16xf32>, tensor<16x8xf32>, tensor<8xf32>) -> tensor<1x6x8xf32>
//       %7 = nn.add %arg4, %6 : tensor<1x6x8xf32>
//       optc.yield %7 : tensor<1x6x8xf32>
//     }
//     return %5 : tensor<1x6x8xf32>
//   }
// }
