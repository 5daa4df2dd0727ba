// RUN: optc --passes=fuse,inplace --remarks=inplace
// A convolution may accumulate into a loop-carried value only if this iteration reads it no more.

func.func @needed(%n: index, %one: index, %x: tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32> {
  %w = nn.constant dense<0.5> : tensor<8x8x1x1xf32>
  %r = scf.for %i = %one to %n step %one iter_args(%a = %x) -> (tensor<1x4x4x8xf32>) {
    %0 = nn.max_pool2d %a {kernel = array<i64: 1, 1>, layout = "NHWC"} : tensor<1x4x4x8xf32>
    %1 = nn.conv2d %0, %w {layout = "NHWC"} : (tensor<1x4x4x8xf32>, tensor<8x8x1x1xf32>) -> tensor<1x4x4x8xf32>
    %2 = nn.add %1, %a : tensor<1x4x4x8xf32>
    %3 = nn.max_pool2d %2 {kernel = array<i64: 1, 1>, layout = "NHWC"} : tensor<1x4x4x8xf32>
    %4 = nn.mul %3, %a : tensor<1x4x4x8xf32>
    scf.yield %4 : tensor<1x4x4x8xf32>
  }
  return %r : tensor<1x4x4x8xf32>
}

func.func @dying(%n: index, %one: index, %x: tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32> {
  %w = nn.constant dense<0.5> : tensor<8x8x1x1xf32>
  %r = scf.for %i = %one to %n step %one iter_args(%a = %x) -> (tensor<1x4x4x8xf32>) {
    %0 = nn.max_pool2d %a {kernel = array<i64: 1, 1>, layout = "NHWC"} : tensor<1x4x4x8xf32>
    %1 = nn.conv2d %0, %w {layout = "NHWC"} : (tensor<1x4x4x8xf32>, tensor<8x8x1x1xf32>) -> tensor<1x4x4x8xf32>
    %2 = nn.add %1, %a : tensor<1x4x4x8xf32>
    scf.yield %2 : tensor<1x4x4x8xf32>
  }
  return %r : tensor<1x4x4x8xf32>
}
// ----- output
// remark: result 0 does not overwrite operand 2: its bytes are read later
//  --> an_addend_that_a_loop_carries_is_kept_while_it_is_needed.mlir:8:10
//   |
// 8 |     %1 = nn.conv2d %0, %w {layout = "NHWC"} : (tensor<1x4x4x8xf32>, tensor<8x8x1x1xf32>) -> tensor<1x4x4x8xf32>
//   |          ^^^^^^^^^
//   |
//   = note: an_addend_that_a_loop_carries_is_kept_while_it_is_needed.mlir:14:3: it is read here
// module {
//   func.func @needed(%arg0: index, %arg1: index, %arg2: tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32> attributes {optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.constant dense<5.000000e-01> : tensor<8x8x1x1xf32>
//     %1 = scf.for %arg3 = %arg1 to %arg0 step %arg1 iter_args(%arg4 = %arg2) -> (tensor<1x4x4x8xf32>) {
//       %2 = nn.max_pool2d %arg4 {kernel = array<i64: 1, 1>, layout = "NHWC", mem.kernel = "max_pool2d"} : tensor<1x4x4x8xf32>
//       %3 = optc.group(%arg5 = %2, %arg6 = %0, %arg7 = %arg4) {mem.kernel = "conv2d"} : (tensor<1x4x4x8xf32>, tensor<8x8x1x1xf32>, tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32> {
//         %6 = nn.conv2d %arg5, %arg6 {layout = "NHWC"} : (tensor<1x4x4x8xf32>, tensor<8x8x1x1xf32>) -> tensor<1x4x4x8xf32>
//         %7 = nn.add %6, %arg7 : tensor<1x4x4x8xf32>
//         optc.yield %7 : tensor<1x4x4x8xf32>
//       }
//       %4 = nn.max_pool2d %3 {kernel = array<i64: 1, 1>, layout = "NHWC", mem.kernel = "max_pool2d"} : tensor<1x4x4x8xf32>
//       %5 = nn.mul %4, %arg4 {mem.kernel = "pointwise", mem.tie = array<i64: 0>} : tensor<1x4x4x8xf32>
//       scf.yield %5 : tensor<1x4x4x8xf32>
//     }
//     return %1 : tensor<1x4x4x8xf32>
//   }
//   func.func @dying(%arg0: index, %arg1: index, %arg2: tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32> attributes {optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.constant dense<5.000000e-01> : tensor<8x8x1x1xf32>
//     %1 = scf.for %arg3 = %arg1 to %arg0 step %arg1 iter_args(%arg4 = %arg2) -> (tensor<1x4x4x8xf32>) {
//       %2 = nn.max_pool2d %arg4 {kernel = array<i64: 1, 1>, layout = "NHWC", mem.kernel = "max_pool2d"} : tensor<1x4x4x8xf32>
//       %3 = optc.group(%arg5 = %2, %arg6 = %0, %arg7 = %arg4) {mem.kernel = "conv2d", mem.tie = array<i64: 2>} : (tensor<1x4x4x8xf32>, tensor<8x8x1x1xf32>, tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32> {
//         %4 = nn.conv2d %arg5, %arg6 {layout = "NHWC"} : (tensor<1x4x4x8xf32>, tensor<8x8x1x1xf32>) -> tensor<1x4x4x8xf32>
//         %5 = nn.add %4, %arg7 : tensor<1x4x4x8xf32>
//         optc.yield %5 : tensor<1x4x4x8xf32>
//       }
//       scf.yield %3 : tensor<1x4x4x8xf32>
//     }
//     return %1 : tensor<1x4x4x8xf32>
//   }
// }
