// RUN: optc --passes=fuse
// Fusion of a prologue into a 1x1 convolution needs equal shapes, which is proved for named sizes here. A 3x3
// window would compute the prologue once for each tap, so there it stays outside.

func.func @main(%x: tensor<?x?x?x8xf32, #optc.dims<N, H, W>>) -> tensor<?x?x?x4xf32, #optc.dims<N, H, W>> {
  %s = nn.constant dense<0.5> : tensor<1x1x1x8xf32>
  %w = nn.constant dense<0.5> : tensor<4x8x1x1xf32>
  %0 = nn.mul %x, %s : (tensor<?x?x?x8xf32, #optc.dims<N, H, W>>, tensor<1x1x1x8xf32>) -> tensor<?x?x?x8xf32, #optc.dims<N, H, W>>
  %1 = nn.relu %0 : tensor<?x?x?x8xf32, #optc.dims<N, H, W>>
  %2 = nn.conv2d %1, %w {layout = "NHWC"} : (tensor<?x?x?x8xf32, #optc.dims<N, H, W>>, tensor<4x8x1x1xf32>) -> tensor<?x?x?x4xf32, #optc.dims<N, H, W>>
  return %2 : tensor<?x?x?x4xf32, #optc.dims<N, H, W>>
}

// A larger window would compute it once for each tap.
func.func @window(%x: tensor<?x?x?x8xf32, #optc.dims<N, H, W>>) -> tensor<?x?x?x4xf32, #optc.dims<N, H, W>> {
  %w = nn.constant dense<0.5> : tensor<4x8x3x3xf32>
  %1 = nn.relu %x : tensor<?x?x?x8xf32, #optc.dims<N, H, W>>
  %2 = nn.conv2d %1, %w {layout = "NHWC", pads = array<i64: 1, 1, 1, 1>} : (tensor<?x?x?x8xf32, #optc.dims<N, H, W>>, tensor<4x8x3x3xf32>) -> tensor<?x?x?x4xf32, #optc.dims<N, H, W>>
  return %2 : tensor<?x?x?x4xf32, #optc.dims<N, H, W>>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<?x?x?x8xf32, #optc.dims<N, H, W>>) -> tensor<?x?x?x4xf32, #optc.dims<N, H, W>> attributes {optc.stage = "fuse"} {
//     %0 = nn.constant dense<5.000000e-01> : tensor<1x1x1x8xf32>
//     %1 = nn.constant dense<5.000000e-01> : tensor<4x8x1x1xf32>
//     %2 = optc.group(%arg1 = %arg0, %arg2 = %0, %arg3 = %1) : (tensor<?x?x?x8xf32, #optc.dims<N, H, W>>, tensor<1x1x1x8xf32>, tensor<4x8x1x1xf32>) -> tensor<?x?x?x4xf32, #optc.dims<N, H, W>> {
//       %3 = nn.mul %arg1, %arg2 : (tensor<?x?x?x8xf32, #optc.dims<N, H, W>>, tensor<1x1x1x8xf32>) -> tensor<?x?x?x8xf32, #optc.dims<N, H, W>>
//       %4 = nn.relu %3 : tensor<?x?x?x8xf32, #optc.dims<N, H, W>>
//       %5 = nn.conv2d %4, %arg3 {layout = "NHWC"} : (tensor<?x?x?x8xf32, #optc.dims<N, H, W>>, tensor<4x8x1x1xf32>) -> tensor<?x?x?x4xf32, #optc.dims<N, H, W>>
//       optc.yield %5 : tensor<?x?x?x4xf32, #optc.dims<N, H, W>>
//     }
//     return %2 : tensor<?x?x?x4xf32, #optc.dims<N, H, W>>
//   }
//   func.func @window(%arg0: tensor<?x?x?x8xf32, #optc.dims<N, H, W>>) -> tensor<?x?x?x4xf32, #optc.dims<N, H, W>> attributes {optc.stage = "fuse"} {
//     %0 = nn.constant dense<5.000000e-01> : tensor<4x8x3x3xf32>
//     %1 = nn.relu %arg0 : tensor<?x?x?x8xf32, #optc.dims<N, H, W>>
//     %2 = nn.conv2d %1, %0 {layout = "NHWC", pads = array<i64: 1, 1, 1, 1>} : (tensor<?x?x?x8xf32, #optc.dims<N, H, W>>, tensor<4x8x3x3xf32>) -> tensor<?x?x?x4xf32, #optc.dims<N, H, W>>
//     return %2 : tensor<?x?x?x4xf32, #optc.dims<N, H, W>>
//   }
// }
