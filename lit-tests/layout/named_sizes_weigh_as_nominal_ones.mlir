// RUN: optc --passes=layout
// Which operand is transposed depends on how many bytes it has, taken at the nominal sizes. The scale has
// fewer than the image there, though not at every size.

func.func @excitation(%x: tensor<?x8x?x?xf32, #optc.dims<N, H, W>>) -> tensor<?x8x?x?xf32, #optc.dims<N, H, W>> {
  %w = nn.constant dense<0.5> : tensor<8x8x1x1xf32>
  %0 = nn.conv2d %x, %w : (tensor<?x8x?x?xf32, #optc.dims<N, H, W>>, tensor<8x8x1x1xf32>) -> tensor<?x8x?x?xf32, #optc.dims<N, H, W>>
  %1 = nn.reduce_mean %0 {axes = array<i64: 2, 3>} : (tensor<?x8x?x?xf32, #optc.dims<N, H, W>>) -> tensor<?x8xf32, #optc.dims<N>>
  %2 = nn.reshape %1 {shape = #optc.dims<N, 8, 1, 1>} : (tensor<?x8xf32, #optc.dims<N>>) -> tensor<?x8x1x1xf32, #optc.dims<N>>
  %3 = nn.mul %0, %2 : (tensor<?x8x?x?xf32, #optc.dims<N, H, W>>, tensor<?x8x1x1xf32, #optc.dims<N>>) -> tensor<?x8x?x?xf32, #optc.dims<N, H, W>>
  %4 = nn.conv2d %3, %w : (tensor<?x8x?x?xf32, #optc.dims<N, H, W>>, tensor<8x8x1x1xf32>) -> tensor<?x8x?x?xf32, #optc.dims<N, H, W>>
  return %4 : tensor<?x8x?x?xf32, #optc.dims<N, H, W>>
}
// ----- output
// module {
//   func.func @excitation(%arg0: tensor<?x8x?x?xf32, #optc.dims<N, H, W>>) -> tensor<?x8x?x?xf32, #optc.dims<N, H, W>> attributes {optc.stage = "layout"} {
//     %0 = nn.constant dense<5.000000e-01> : tensor<8x8x1x1xf32>
//     %1 = nn.transpose %arg0 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<?x8x?x?xf32, #optc.dims<N, H, W>>) -> tensor<?x?x?x8xf32, #optc.dims<N, H, W>>
//     %2 = nn.conv2d %1, %0 {layout = "NHWC"} : (tensor<?x?x?x8xf32, #optc.dims<N, H, W>>, tensor<8x8x1x1xf32>) -> tensor<?x?x?x8xf32, #optc.dims<N, H, W>>
//     %3 = nn.reduce_mean %2 {axes = array<i64: 1, 2>} : (tensor<?x?x?x8xf32, #optc.dims<N, H, W>>) -> tensor<?x8xf32, #optc.dims<N>>
//     %4 = nn.reshape %3 {shape = #optc.dims<N, 8, 1, 1>} : (tensor<?x8xf32, #optc.dims<N>>) -> tensor<?x8x1x1xf32, #optc.dims<N>>
//     %5 = nn.reshape %4 {shape = #optc.dims<N, 1, 1, 8>} : (tensor<?x8x1x1xf32, #optc.dims<N>>) -> tensor<?x1x1x8xf32, #optc.dims<N>>
//     %6 = nn.mul %2, %5 : (tensor<?x?x?x8xf32, #optc.dims<N, H, W>>, tensor<?x1x1x8xf32, #optc.dims<N>>) -> tensor<?x?x?x8xf32, #optc.dims<N, H, W>>
//     %7 = nn.conv2d %6, %0 {layout = "NHWC"} : (tensor<?x?x?x8xf32, #optc.dims<N, H, W>>, tensor<8x8x1x1xf32>) -> tensor<?x?x?x8xf32, #optc.dims<N, H, W>>
//     %8 = nn.transpose %7 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<?x?x?x8xf32, #optc.dims<N, H, W>>) -> tensor<?x8x?x?xf32, #optc.dims<N, H, W>>
//     return %8 : tensor<?x8x?x?xf32, #optc.dims<N, H, W>>
//   }
// }
