// RUN: optc --passes=default
// A transposed convolution of 4x4 elements and stride 2, as the importer writes it: a convolution of an image
// of which three quarters are zeros. It becomes four convolutions of 2x2 elements of the image without zeros.

func.func @main(%x: tensor<1x32x16x16xf32>) -> tensor<1x32x32x32xf32> {
  %w = nn.constant dense<0.5> : tensor<32x32x4x4xf32>
  %0 = nn.reshape %x {shape = array<i64: 1, 32, 16, 16, 1>} : (tensor<1x32x16x16xf32>) -> tensor<1x32x16x16x1xf32>
  %1 = nn.pad %0 {low = array<i64: 0, 0, 0, 0, 0>, high = array<i64: 0, 0, 0, 0, 1>} : (tensor<1x32x16x16x1xf32>) -> tensor<1x32x16x16x2xf32>
  %2 = nn.reshape %1 {shape = array<i64: 1, 32, 16, 32>} : (tensor<1x32x16x16x2xf32>) -> tensor<1x32x16x32xf32>
  %3 = nn.slice %2 {starts = array<i64: 0, 0, 0, 0>, sizes = array<i64: 1, 32, 16, 31>} : (tensor<1x32x16x32xf32>) -> tensor<1x32x16x31xf32>
  %4 = nn.reshape %3 {shape = array<i64: 1, 32, 16, 1, 31>} : (tensor<1x32x16x31xf32>) -> tensor<1x32x16x1x31xf32>
  %5 = nn.pad %4 {low = array<i64: 0, 0, 0, 0, 0>, high = array<i64: 0, 0, 0, 1, 0>} : (tensor<1x32x16x1x31xf32>) -> tensor<1x32x16x2x31xf32>
  %6 = nn.reshape %5 {shape = array<i64: 1, 32, 32, 31>} : (tensor<1x32x16x2x31xf32>) -> tensor<1x32x32x31xf32>
  %7 = nn.slice %6 {starts = array<i64: 0, 0, 0, 0>, sizes = array<i64: 1, 32, 31, 31>} : (tensor<1x32x32x31xf32>) -> tensor<1x32x31x31xf32>
  %8 = nn.conv2d %7, %w {pads = array<i64: 2, 2, 2, 2>} : (tensor<1x32x31x31xf32>, tensor<32x32x4x4xf32>) -> tensor<1x32x32x32xf32>
  return %8 : tensor<1x32x32x32xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x32x16x16xf32>) -> tensor<1x32x32x32xf32> attributes {optc.arena = 196608 : i64, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.constant dense<5.000000e-01> : tensor<32x32x4x4xf32>
//     %1 = nn.slice %0 {sizes = array<i64: 32, 32, 2, 4>, starts = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1, 2, 1>} : (tensor<32x32x4x4xf32>) -> tensor<32x32x2x4xf32>
//     %2 = nn.slice %1 {sizes = array<i64: 32, 32, 2, 2>, starts = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1, 1, 2>} : (tensor<32x32x2x4xf32>) -> tensor<32x32x2x2xf32>
//     %3 = nn.transpose %arg0 {mem.kernel = "copy", mem.place = [["arena", 32768, 32768]], permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x32x16x16xf32>) -> tensor<1x16x16x32xf32>
//     %4 = nn.conv2d %3, %2 {layout = "NHWC", mem.kernel = "conv2d", mem.place = [["arena", 0, 32768], ["arena", 65536, 32704]], mem.scratch = 32704 : i64, pads = array<i64: 1, 1, 0, 0>} : (tensor<1x16x16x32xf32>, tensor<32x32x2x2xf32>) -> tensor<1x16x16x32xf32>
//     %5 = nn.reshape %4 {mem.kernel = "copy", shape = array<i64: 1, 16, 16, 1, 32>} : (tensor<1x16x16x32xf32>) -> tensor<1x16x16x1x32xf32>
//     %6 = nn.slice %1 {sizes = array<i64: 32, 32, 2, 2>, starts = array<i64: 0, 0, 0, 1>, strides = array<i64: 1, 1, 1, 2>} : (tensor<32x32x2x4xf32>) -> tensor<32x32x2x2xf32>
//     %7 = nn.transpose %arg0 {mem.kernel = "copy", mem.place = [["arena", 32768, 32768]], permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x32x16x16xf32>) -> tensor<1x16x16x32xf32>
//     %8 = nn.conv2d %7, %6 {layout = "NHWC", mem.kernel = "conv2d", mem.place = [["arena", 65536, 32768], ["arena", 98304, 32704]], mem.scratch = 32704 : i64, pads = array<i64: 1, 0, 0, 1>} : (tensor<1x16x16x32xf32>, tensor<32x32x2x2xf32>) -> tensor<1x16x16x32xf32>
//     %9 = nn.reshape %8 {mem.kernel = "copy", shape = array<i64: 1, 16, 16, 1, 32>} : (tensor<1x16x16x32xf32>) -> tensor<1x16x16x1x32xf32>
//     %10 = nn.concat %5, %9 {axis = 3 : i64, mem.kernel = "copy", mem.place = [["out", 0, 65536]]} : (tensor<1x16x16x1x32xf32>, tensor<1x16x16x1x32xf32>) -> tensor<1x16x16x2x32xf32>
//     %11 = nn.reshape %10 {mem.kernel = "copy", shape = array<i64: 1, 16, 1, 32, 32>} : (tensor<1x16x16x2x32xf32>) -> tensor<1x16x1x32x32xf32>
//     %12 = nn.slice %0 {sizes = array<i64: 32, 32, 2, 4>, starts = array<i64: 0, 0, 1, 0>, strides = array<i64: 1, 1, 2, 1>} : (tensor<32x32x4x4xf32>) -> tensor<32x32x2x4xf32>
//     %13 = nn.slice %12 {sizes = array<i64: 32, 32, 2, 2>, starts = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1, 1, 2>} : (tensor<32x32x2x4xf32>) -> tensor<32x32x2x2xf32>
//     %14 = nn.transpose %arg0 {mem.kernel = "copy", mem.place = [["arena", 32768, 32768]], permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x32x16x16xf32>) -> tensor<1x16x16x32xf32>
//     %15 = nn.conv2d %14, %13 {layout = "NHWC", mem.kernel = "conv2d", mem.place = [["arena", 0, 32768], ["arena", 65536, 32704]], mem.scratch = 32704 : i64, pads = array<i64: 0, 1, 1, 0>} : (tensor<1x16x16x32xf32>, tensor<32x32x2x2xf32>) -> tensor<1x16x16x32xf32>
//     %16 = nn.reshape %15 {mem.kernel = "copy", shape = array<i64: 1, 16, 16, 1, 32>} : (tensor<1x16x16x32xf32>) -> tensor<1x16x16x1x32xf32>
//     %17 = nn.slice %12 {sizes = array<i64: 32, 32, 2, 2>, starts = array<i64: 0, 0, 0, 1>, strides = array<i64: 1, 1, 1, 2>} : (tensor<32x32x2x4xf32>) -> tensor<32x32x2x2xf32>
//     %18 = nn.transpose %arg0 {mem.kernel = "copy", mem.place = [["arena", 32768, 32768]], permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x32x16x16xf32>) -> tensor<1x16x16x32xf32>
//     %19 = nn.conv2d %18, %17 {layout = "NHWC", mem.kernel = "conv2d", mem.place = [["arena", 65536, 32768], ["arena", 98304, 32704]], mem.scratch = 32704 : i64, pads = array<i64: 0, 0, 1, 1>} : (tensor<1x16x16x32xf32>, tensor<32x32x2x2xf32>) -> tensor<1x16x16x32xf32>
//     %20 = nn.reshape %19 {mem.kernel = "copy", shape = array<i64: 1, 16, 16, 1, 32>} : (tensor<1x16x16x32xf32>) -> tensor<1x16x16x1x32xf32>
//     %21 = nn.concat %16, %20 {axis = 3 : i64, mem.kernel = "copy", mem.place = [["arena", 131072, 65536]]} : (tensor<1x16x16x1x32xf32>, tensor<1x16x16x1x32xf32>) -> tensor<1x16x16x2x32xf32>
//     %22 = nn.reshape %21 {mem.kernel = "copy", shape = array<i64: 1, 16, 1, 32, 32>} : (tensor<1x16x16x2x32xf32>) -> tensor<1x16x1x32x32xf32>
//     %23 = nn.concat %11, %22 {axis = 2 : i64, mem.kernel = "copy", mem.place = [["arena", 0, 131072]]} : (tensor<1x16x1x32x32xf32>, tensor<1x16x1x32x32xf32>) -> tensor<1x16x2x32x32xf32>
//     %24 = nn.reshape %23 {mem.kernel = "copy", shape = array<i64: 1, 32, 32, 32>} : (tensor<1x16x2x32x32xf32>) -> tensor<1x32x32x32xf32>
//     %25 = nn.transpose %24 {mem.kernel = "copy", mem.place = [["out", 0, 131072]], permutation = array<i64: 0, 3, 1, 2>} : tensor<1x32x32x32xf32>
//     return %25 : tensor<1x32x32x32xf32>
//   }
// }
