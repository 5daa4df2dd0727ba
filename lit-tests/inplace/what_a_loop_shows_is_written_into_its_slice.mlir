// RUN: optc --passes=inplace,plan --threads=1
// What a loop shows in each turn is written into its slice of a value that it carries: initial value,
// argument and result are the output's bytes, in which two loops write one after the other. The state is
// overwritten, too. Apart they would cost a copy of all slices in each turn.

func.func @main(%x: tensor<64x8xf32>, %w: tensor<8x8xf32>) -> tensor<128x8xf32> {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %steps = arith.constant 64 : i64
  %first = nn.constant dense<64> : tensor<i64>
  %h = nn.constant dense<0.0> : tensor<1x8xf32>
  %y = optc.fill {shape = array<i64: 128, 8>, to = f32} : tensor<128x8xf32>
  %r:2 = scf.for %i = %zero to %steps step %one iter_args(%a = %h, %all = %y) -> (tensor<1x8xf32>, tensor<128x8xf32>) : i64 {
    %n = nn.from_scalar %i : (i64) -> tensor<i64>
    %at = nn.reshape %n {shape = array<i64: 1>} : (tensor<i64>) -> tensor<1xi64>
    %step = nn.gather %x, %at {axis = 0 : i64} : (tensor<64x8xf32>, tensor<1xi64>) -> tensor<1x8xf32>
    %p = nn.matmul %a, %w : (tensor<1x8xf32>, tensor<8x8xf32>) -> tensor<1x8xf32>
    %s = nn.add %p, %step : tensor<1x8xf32>
    %new = nn.tanh %s : tensor<1x8xf32>
    %written = nn.scatter %all, %at, %new : (tensor<128x8xf32>, tensor<1xi64>, tensor<1x8xf32>) -> tensor<128x8xf32>
    scf.yield %new, %written : tensor<1x8xf32>, tensor<128x8xf32>
  }
  %q:2 = scf.for %i = %zero to %steps step %one iter_args(%a = %r#0, %all = %r#1) -> (tensor<1x8xf32>, tensor<128x8xf32>) : i64 {
    %n = nn.from_scalar %i : (i64) -> tensor<i64>
    %k = nn.add %n, %first : tensor<i64>
    %at = nn.reshape %k {shape = array<i64: 1>} : (tensor<i64>) -> tensor<1xi64>
    %new = nn.neg %a : tensor<1x8xf32>
    %written = nn.scatter %all, %at, %new : (tensor<128x8xf32>, tensor<1xi64>, tensor<1x8xf32>) -> tensor<128x8xf32>
    scf.yield %new, %written : tensor<1x8xf32>, tensor<128x8xf32>
  }
  return %q#1 : tensor<128x8xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<64x8xf32>, %arg1: tensor<8x8xf32>) -> tensor<128x8xf32> attributes {optc.arena = 712 : i64, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = arith.constant 0 : i64
//     %1 = arith.constant 1 : i64
//     %2 = arith.constant 64 : i64
//     %3 = nn.constant dense<64> : tensor<i64>
//     %4 = nn.constant dense<0.000000e+00> : tensor<1x8xf32>
//     %5 = optc.fill {mem.kernel = "fill", mem.place = [["out", 0, 4096]], shape = array<i64: 128, 8>, to = f32} : tensor<128x8xf32>
//     %6:2 = scf.for %arg2 = %0 to %2 step %1 iter_args(%arg3 = %4, %arg4 = %5) -> (tensor<1x8xf32>, tensor<128x8xf32>) : i64 {
//       %8 = nn.from_scalar %arg2 {mem.kernel = "copy"} : (i64) -> tensor<i64>
//       %9 = nn.reshape %8 {mem.kernel = "copy", shape = array<i64: 1>} : (tensor<i64>) -> tensor<1xi64>
//       %10 = nn.gather %arg0, %9 {axis = 0 : i64, mem.kernel = "take", mem.place = [["arena", 640, 32], ["arena", 0, 64]], mem.scratch = 64 : i64} : (tensor<64x8xf32>, tensor<1xi64>) -> tensor<1x8xf32>
//       %11 = nn.matmul %arg3, %arg1 {mem.kernel = "gemm", mem.place = [["arena", 576, 32], ["arena", 0, 512]], mem.scratch = 512 : i64} : (tensor<1x8xf32>, tensor<8x8xf32>) -> tensor<1x8xf32>
//       %12 = nn.add %11, %10 {mem.kernel = "pointwise", mem.place = [["arena", 576, 32]], mem.tie = array<i64: 0>} : tensor<1x8xf32>
//       %13 = nn.tanh %12 {mem.kernel = "pointwise", mem.place = [["arena", 576, 32]], mem.tie = array<i64: 0>} : tensor<1x8xf32>
//       %14 = nn.scatter %arg4, %9, %13 {mem.kernel = "put", mem.place = [["out", 0, 4096], ["arena", 0, 64]], mem.scratch = 64 : i64, mem.tie = array<i64: 0>} : (tensor<128x8xf32>, tensor<1xi64>, tensor<1x8xf32>) -> tensor<128x8xf32>
//       scf.yield %13, %14 : tensor<1x8xf32>, tensor<128x8xf32>
//     } {mem.args = [[["arena", 704, 8], ["arena", 512, 32], ["out", 0, 4096]]], mem.place = [["arena", 512, 32], ["out", 0, 4096]]}
//     %7:2 = scf.for %arg2 = %0 to %2 step %1 iter_args(%arg3 = %6#0, %arg4 = %6#1) -> (tensor<1x8xf32>, tensor<128x8xf32>) : i64 {
//       %8 = nn.from_scalar %arg2 {mem.kernel = "copy"} : (i64) -> tensor<i64>
//       %9 = nn.add %8, %3 {mem.kernel = "pointwise", mem.place = [["arena", 64, 8]], mem.tie = array<i64: 0>} : tensor<i64>
//       %10 = nn.reshape %9 {mem.kernel = "copy", shape = array<i64: 1>} : (tensor<i64>) -> tensor<1xi64>
//       %11 = nn.neg %arg3 {mem.kernel = "pointwise", mem.place = [["arena", 512, 32]], mem.tie = array<i64: 0>} : tensor<1x8xf32>
//       %12 = nn.scatter %arg4, %10, %11 {mem.kernel = "put", mem.place = [["out", 0, 4096], ["arena", 0, 64]], mem.scratch = 64 : i64, mem.tie = array<i64: 0>} : (tensor<128x8xf32>, tensor<1xi64>, tensor<1x8xf32>) -> tensor<128x8xf32>
//       scf.yield %11, %12 : tensor<1x8xf32>, tensor<128x8xf32>
//     } {mem.args = [[["arena", 64, 8], ["arena", 512, 32], ["out", 0, 4096]]], mem.place = [["arena", 512, 32], ["out", 0, 4096]]}
//     return %7#1 : tensor<128x8xf32>
//   }
// }
