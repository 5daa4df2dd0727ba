// RUN: optc --passes=layout
// A transpose would have more to move after a repetition or resampling than before it, so it stays before if
// nothing else than the caller reads the result.

func.func @main(%x: tensor<1x8x4x6xf32>, %places: tensor<2x5xi64>, %weights: tensor<2x5xf32>) -> (tensor<1x8x8x18xf32>, tensor<1x8x5x6xf32>, tensor<1x8x3x4xf32>) {
  %0 = nn.max_pool2d %x {kernel = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x4x6xf32>) -> tensor<1x8x4x6xf32>
  %1 = nn.repeat %0 {counts = array<i64: 1, 1, 2, 3>} : (tensor<1x8x4x6xf32>) -> tensor<1x8x8x18xf32>
  %2 = nn.resample %0, %places, %weights {axis = 2 : i64} : (tensor<1x8x4x6xf32>, tensor<2x5xi64>, tensor<2x5xf32>) -> tensor<1x8x5x6xf32>
  %3 = nn.exp %2 : tensor<1x8x5x6xf32>
  // What another window reads is turned after it.
  %4 = nn.tanh %0 : tensor<1x8x4x6xf32>
  %5 = nn.resample %4, %places, %weights {axis = 2 : i64} : (tensor<1x8x4x6xf32>, tensor<2x5xi64>, tensor<2x5xf32>) -> tensor<1x8x5x6xf32>
  %6 = nn.max_pool2d %5 {kernel = array<i64: 3, 3>} : (tensor<1x8x5x6xf32>) -> tensor<1x8x3x4xf32>
  return %1, %3, %6 : tensor<1x8x8x18xf32>, tensor<1x8x5x6xf32>, tensor<1x8x3x4xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x8x4x6xf32>, %arg1: tensor<2x5xi64>, %arg2: tensor<2x5xf32>) -> (tensor<1x8x8x18xf32>, tensor<1x8x5x6xf32>, tensor<1x8x3x4xf32>) attributes {optc.stage = "layout"} {
//     %0 = nn.transpose %arg0 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x8x4x6xf32>) -> tensor<1x4x6x8xf32>
//     %1 = nn.max_pool2d %0 {kernel = array<i64: 3, 3>, layout = "NHWC", pads = array<i64: 1, 1, 1, 1>} : tensor<1x4x6x8xf32>
//     %2 = nn.transpose %1 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x4x6x8xf32>) -> tensor<1x8x4x6xf32>
//     %3 = nn.repeat %2 {counts = array<i64: 1, 1, 2, 3>} : (tensor<1x8x4x6xf32>) -> tensor<1x8x8x18xf32>
//     %4 = nn.resample %2, %arg1, %arg2 {axis = 2 : i64} : (tensor<1x8x4x6xf32>, tensor<2x5xi64>, tensor<2x5xf32>) -> tensor<1x8x5x6xf32>
//     %5 = nn.exp %4 : tensor<1x8x5x6xf32>
//     %6 = nn.tanh %1 : tensor<1x4x6x8xf32>
//     %7 = nn.resample %6, %arg1, %arg2 {axis = 1 : i64} : (tensor<1x4x6x8xf32>, tensor<2x5xi64>, tensor<2x5xf32>) -> tensor<1x5x6x8xf32>
//     %8 = nn.max_pool2d %7 {kernel = array<i64: 3, 3>, layout = "NHWC"} : (tensor<1x5x6x8xf32>) -> tensor<1x3x4x8xf32>
//     %9 = nn.transpose %8 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x3x4x8xf32>) -> tensor<1x8x3x4xf32>
//     return %3, %5, %9 : tensor<1x8x8x18xf32>, tensor<1x8x5x6xf32>, tensor<1x8x3x4xf32>
//   }
// }
