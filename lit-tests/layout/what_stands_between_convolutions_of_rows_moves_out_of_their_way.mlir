// RUN: optc --passes=layout
// As Whisper is exported: convolutions of rows are those of images of one line, between reshapes that add and
// drop its axis. These move before transposes and after GELU, so that no transpose is left but the input's.

func.func @main(%x: tensor<1x8x12xf32>, %p: tensor<1x12x16xf32>) -> tensor<1x12x16xf32> {
  %w = nn.constant dense<0.5> : tensor<16x8x1x3xf32>
  %v = nn.constant dense<0.25> : tensor<16x16x1x3xf32>
  %0 = nn.reshape %x {shape = array<i64: 1, 8, 1, 12>} : (tensor<1x8x12xf32>) -> tensor<1x8x1x12xf32>
  %1 = nn.conv2d %0, %w {pads = array<i64: 0, 1, 0, 1>} : (tensor<1x8x1x12xf32>, tensor<16x8x1x3xf32>) -> tensor<1x16x1x12xf32>
  %2 = nn.reshape %1 {shape = array<i64: 1, 16, 12>} : (tensor<1x16x1x12xf32>) -> tensor<1x16x12xf32>
  %3 = nn.gelu %2 : tensor<1x16x12xf32>
  %4 = nn.reshape %3 {shape = array<i64: 1, 16, 1, 12>} : (tensor<1x16x12xf32>) -> tensor<1x16x1x12xf32>
  %5 = nn.conv2d %4, %v {pads = array<i64: 0, 1, 0, 1>} : (tensor<1x16x1x12xf32>, tensor<16x16x1x3xf32>) -> tensor<1x16x1x12xf32>
  %6 = nn.reshape %5 {shape = array<i64: 1, 16, 12>} : (tensor<1x16x1x12xf32>) -> tensor<1x16x12xf32>
  %7 = nn.gelu %6 : tensor<1x16x12xf32>
  %8 = nn.transpose %7 {permutation = array<i64: 0, 2, 1>} : (tensor<1x16x12xf32>) -> tensor<1x12x16xf32>
  %9 = nn.add %8, %p : tensor<1x12x16xf32>
  return %9 : tensor<1x12x16xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x8x12xf32>, %arg1: tensor<1x12x16xf32>) -> tensor<1x12x16xf32> attributes {optc.stage = "layout"} {
//     %0 = nn.constant dense<5.000000e-01> : tensor<16x8x1x3xf32>
//     %1 = nn.constant dense<2.500000e-01> : tensor<16x16x1x3xf32>
//     %2 = nn.reshape %arg0 {shape = array<i64: 1, 8, 1, 12>} : (tensor<1x8x12xf32>) -> tensor<1x8x1x12xf32>
//     %3 = nn.transpose %2 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x8x1x12xf32>) -> tensor<1x1x12x8xf32>
//     %4 = nn.conv2d %3, %0 {layout = "NHWC", pads = array<i64: 0, 1, 0, 1>} : (tensor<1x1x12x8xf32>, tensor<16x8x1x3xf32>) -> tensor<1x1x12x16xf32>
//     %5 = nn.gelu %4 : tensor<1x1x12x16xf32>
//     %6 = nn.conv2d %5, %1 {layout = "NHWC", pads = array<i64: 0, 1, 0, 1>} : (tensor<1x1x12x16xf32>, tensor<16x16x1x3xf32>) -> tensor<1x1x12x16xf32>
//     %7 = nn.gelu %6 : tensor<1x1x12x16xf32>
//     %8 = nn.reshape %7 {shape = array<i64: 1, 12, 16>} : (tensor<1x1x12x16xf32>) -> tensor<1x12x16xf32>
//     %9 = nn.add %8, %arg1 : tensor<1x12x16xf32>
//     return %9 : tensor<1x12x16xf32>
//   }
// }
