// RUN: optc --passes=layout
// Shapes with named sizes are permuted like numbers, in attributes too. Otherwise a dynamic model would keep
// its transposes.

func.func @residual(%x: tensor<?x8x?x?xf32, #optc.dims<N, H, W>>) -> tensor<?x8x?x?xf32, #optc.dims<N, H, W>> {
  %w = nn.constant dense<0.5> : tensor<8x8x3x3xf32>
  %0 = nn.conv2d %x, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<?x8x?x?xf32, #optc.dims<N, H, W>>, tensor<8x8x3x3xf32>) -> tensor<?x8x?x?xf32, #optc.dims<N, H, W>>
  %1 = nn.relu %0 : tensor<?x8x?x?xf32, #optc.dims<N, H, W>>
  %2 = nn.conv2d %1, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<?x8x?x?xf32, #optc.dims<N, H, W>>, tensor<8x8x3x3xf32>) -> tensor<?x8x?x?xf32, #optc.dims<N, H, W>>
  %3 = nn.add %0, %2 : tensor<?x8x?x?xf32, #optc.dims<N, H, W>>
  return %3 : tensor<?x8x?x?xf32, #optc.dims<N, H, W>>
}

func.func @window(%x: tensor<?x8x?x?xf32, #optc.dims<N, H, W>>) -> tensor<?x4x?x?xf32, #optc.dims<N, H, W>> {
  %0 = nn.max_pool2d %x {kernel = array<i64: 1, 1>} : (tensor<?x8x?x?xf32, #optc.dims<N, H, W>>) -> tensor<?x8x?x?xf32, #optc.dims<N, H, W>>
  %1 = nn.slice %0 {starts = array<i64: 0, 2, 0, 0>, sizes = #optc.dims<N, 4, H, W>} : (tensor<?x8x?x?xf32, #optc.dims<N, H, W>>) -> tensor<?x4x?x?xf32, #optc.dims<N, H, W>>
  return %1 : tensor<?x4x?x?xf32, #optc.dims<N, H, W>>
}
// ----- output
// module {
//   func.func @residual(%arg0: tensor<?x8x?x?xf32, #optc.dims<N, H, W>>) -> tensor<?x8x?x?xf32, #optc.dims<N, H, W>> attributes {optc.stage = "layout"} {
//     %0 = nn.constant dense<5.000000e-01> : tensor<8x8x3x3xf32>
//     %1 = nn.transpose %arg0 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<?x8x?x?xf32, #optc.dims<N, H, W>>) -> tensor<?x?x?x8xf32, #optc.dims<N, H, W>>
//     %2 = nn.conv2d %1, %0 {layout = "NHWC", pads = array<i64: 1, 1, 1, 1>} : (tensor<?x?x?x8xf32, #optc.dims<N, H, W>>, tensor<8x8x3x3xf32>) -> tensor<?x?x?x8xf32, #optc.dims<N, H, W>>
//     %3 = nn.relu %2 : tensor<?x?x?x8xf32, #optc.dims<N, H, W>>
//     %4 = nn.conv2d %3, %0 {layout = "NHWC", pads = array<i64: 1, 1, 1, 1>} : (tensor<?x?x?x8xf32, #optc.dims<N, H, W>>, tensor<8x8x3x3xf32>) -> tensor<?x?x?x8xf32, #optc.dims<N, H, W>>
//     %5 = nn.add %2, %4 : tensor<?x?x?x8xf32, #optc.dims<N, H, W>>
//     %6 = nn.transpose %5 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<?x?x?x8xf32, #optc.dims<N, H, W>>) -> tensor<?x8x?x?xf32, #optc.dims<N, H, W>>
//     return %6 : tensor<?x8x?x?xf32, #optc.dims<N, H, W>>
//   }
//   func.func @window(%arg0: tensor<?x8x?x?xf32, #optc.dims<N, H, W>>) -> tensor<?x4x?x?xf32, #optc.dims<N, H, W>> attributes {optc.stage = "layout"} {
//     %0 = nn.transpose %arg0 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<?x8x?x?xf32, #optc.dims<N, H, W>>) -> tensor<?x?x?x8xf32, #optc.dims<N, H, W>>
//     %1 = nn.max_pool2d %0 {kernel = array<i64: 1, 1>, layout = "NHWC"} : tensor<?x?x?x8xf32, #optc.dims<N, H, W>>
//     %2 = nn.slice %1 {sizes = #optc.dims<N, H, W, 4>, starts = array<i64: 0, 0, 0, 2>} : (tensor<?x?x?x8xf32, #optc.dims<N, H, W>>) -> tensor<?x?x?x4xf32, #optc.dims<N, H, W>>
//     %3 = nn.transpose %2 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<?x?x?x4xf32, #optc.dims<N, H, W>>) -> tensor<?x4x?x?xf32, #optc.dims<N, H, W>>
//     return %3 : tensor<?x4x?x?xf32, #optc.dims<N, H, W>>
//   }
// }
