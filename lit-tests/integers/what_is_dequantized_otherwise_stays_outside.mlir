// RUN: optc --passes=fuse,inplace,plan
// Only bytes that are added element by element, with one scale, are made floats by the kernel. Others, for
// channels or as factors, are made floats before.

func.func @main(%x: tensor<4x16xui8>, %r: tensor<4x8xui8>, %b: tensor<8xui8>, %f: tensor<ui8>)
    -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %w = nn.constant dense<3> : tensor<16x8xi8>
  %z = nn.constant dense<128> : tensor<ui8>
  %v = nn.constant dense<0> : tensor<i8>
  %s = nn.constant dense<0.5> : tensor<f32>
  %t = nn.constant dense<[0.5, 0.25, 1.0, 2.0, 0.5, 0.25, 1.0, 2.0]> : tensor<8xf32>
  %p0 = nn.quantized_matmul %x, %w, %z, %v
    : (tensor<4x16xui8>, tensor<16x8xi8>, tensor<ui8>, tensor<i8>) -> tensor<4x8xi32>
  %q0 = nn.cast %p0 {to = f32} : (tensor<4x8xi32>) -> tensor<4x8xf32>
  %0 = nn.cast %r {to = f32} : (tensor<4x8xui8>) -> tensor<4x8xf32>
  %1 = nn.mul %0, %t : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %2 = nn.add %q0, %1 : tensor<4x8xf32>
  %p1 = nn.quantized_matmul %x, %w, %z, %v
    : (tensor<4x16xui8>, tensor<16x8xi8>, tensor<ui8>, tensor<i8>) -> tensor<4x8xi32>
  %q1 = nn.cast %p1 {to = f32} : (tensor<4x8xi32>) -> tensor<4x8xf32>
  %3 = nn.cast %b {to = f32} : (tensor<8xui8>) -> tensor<8xf32>
  %4 = nn.mul %3, %s : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %5 = nn.add %q1, %4 : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %p2 = nn.quantized_matmul %x, %w, %z, %v
    : (tensor<4x16xui8>, tensor<16x8xi8>, tensor<ui8>, tensor<i8>) -> tensor<4x8xi32>
  %q2 = nn.cast %p2 {to = f32} : (tensor<4x8xi32>) -> tensor<4x8xf32>
  %6 = nn.cast %f {to = f32} : (tensor<ui8>) -> tensor<f32>
  %7 = nn.mul %6, %s : tensor<f32>
  %8 = nn.mul %q2, %7 : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  return %2, %5, %8 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<4x16xui8>, %arg1: tensor<4x8xui8>, %arg2: tensor<8xui8>, %arg3: tensor<ui8>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) attributes {optc.arena = 2244 : i64, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.constant dense<3> : tensor<16x8xi8>
//     %1 = nn.constant dense<128> : tensor<ui8>
//     %2 = nn.constant dense<0> : tensor<i8>
//     %3 = nn.constant dense<5.000000e-01> : tensor<f32>
//     %4 = nn.constant dense<[5.000000e-01, 2.500000e-01, 1.000000e+00, 2.000000e+00, 5.000000e-01, 2.500000e-01, 1.000000e+00, 2.000000e+00]> : tensor<8xf32>
//     %5 = optc.group(%arg4 = %arg1, %arg5 = %4) {mem.kernel = "pointwise", mem.place = [["out", 0, 128]]} : (tensor<4x8xui8>, tensor<8xf32>) -> tensor<4x8xf32> {
//       %11 = nn.cast %arg4 {to = f32} : (tensor<4x8xui8>) -> tensor<4x8xf32>
//       %12 = nn.mul %11, %arg5 : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
//       optc.yield %12 : tensor<4x8xf32>
//     }
//     %6 = optc.group(%arg4 = %arg0, %arg5 = %0, %arg6 = %1, %arg7 = %2, %arg8 = %5) {mem.kernel = "quantized_gemm", mem.place = [["out", 0, 128], ["arena", 0, 2240]], mem.scratch = 2240 : i64, mem.tie = array<i64: 4>} : (tensor<4x16xui8>, tensor<16x8xi8>, tensor<ui8>, tensor<i8>, tensor<4x8xf32>) -> tensor<4x8xf32> {
//       %11 = nn.quantized_matmul %arg4, %arg5, %arg6, %arg7 : (tensor<4x16xui8>, tensor<16x8xi8>, tensor<ui8>, tensor<i8>) -> tensor<4x8xi32>
//       %12 = nn.cast %11 {to = f32} : (tensor<4x8xi32>) -> tensor<4x8xf32>
//       %13 = nn.add %12, %arg8 : tensor<4x8xf32>
//       optc.yield %13 : tensor<4x8xf32>
//     }
//     %7 = optc.group(%arg4 = %arg2, %arg5 = %3) {mem.kernel = "pointwise", mem.place = [["out", 2, 32]]} : (tensor<8xui8>, tensor<f32>) -> tensor<8xf32> {
//       %11 = nn.cast %arg4 {to = f32} : (tensor<8xui8>) -> tensor<8xf32>
//       %12 = nn.mul %11, %arg5 : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
//       optc.yield %12 : tensor<8xf32>
//     }
//     %8 = optc.group(%arg4 = %arg0, %arg5 = %0, %arg6 = %1, %arg7 = %2, %arg8 = %7) {mem.kernel = "quantized_gemm", mem.place = [["out", 1, 128], ["arena", 0, 2240]], mem.scratch = 2240 : i64} : (tensor<4x16xui8>, tensor<16x8xi8>, tensor<ui8>, tensor<i8>, tensor<8xf32>) -> tensor<4x8xf32> {
//       %11 = nn.quantized_matmul %arg4, %arg5, %arg6, %arg7 : (tensor<4x16xui8>, tensor<16x8xi8>, tensor<ui8>, tensor<i8>) -> tensor<4x8xi32>
//       %12 = nn.cast %11 {to = f32} : (tensor<4x8xi32>) -> tensor<4x8xf32>
//       %13 = nn.add %12, %arg8 : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
//       optc.yield %13 : tensor<4x8xf32>
//     }
//     %9 = optc.group(%arg4 = %arg3, %arg5 = %3) {mem.kernel = "pointwise", mem.place = [["arena", 2240, 4]]} : (tensor<ui8>, tensor<f32>) -> tensor<f32> {
//       %11 = nn.cast %arg4 {to = f32} : (tensor<ui8>) -> tensor<f32>
//       %12 = nn.mul %11, %arg5 : tensor<f32>
//       optc.yield %12 : tensor<f32>
//     }
//     %10 = optc.group(%arg4 = %arg0, %arg5 = %0, %arg6 = %1, %arg7 = %2, %arg8 = %9) {mem.kernel = "quantized_gemm", mem.place = [["out", 2, 128], ["arena", 0, 2240]], mem.scratch = 2240 : i64} : (tensor<4x16xui8>, tensor<16x8xi8>, tensor<ui8>, tensor<i8>, tensor<f32>) -> tensor<4x8xf32> {
//       %11 = nn.quantized_matmul %arg4, %arg5, %arg6, %arg7 : (tensor<4x16xui8>, tensor<16x8xi8>, tensor<ui8>, tensor<i8>) -> tensor<4x8xi32>
//       %12 = nn.cast %11 {to = f32} : (tensor<4x8xi32>) -> tensor<4x8xf32>
//       %13 = nn.mul %12, %arg8 : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
//       optc.yield %13 : tensor<4x8xf32>
//     }
//     return %6, %8, %10 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
//   }
// }
