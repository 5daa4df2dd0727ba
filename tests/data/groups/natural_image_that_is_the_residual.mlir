// A transposed image that is also the residual of its convolution: its channels were read as if contiguous.

func.func @main(%i: tensor<1x4x20x30xui8>) -> tensor<1x20x30x4xf32> {
  %x = nn.transpose %i {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x4x20x30xui8>) -> tensor<1x20x30x4xui8>
  %w = nn.constant dense<[[[[-127, 80, -117], [85, -99, 23], [-92, 8, 3]], [[68, -36, 14], [-58, 73, 124], [18, 105, 120]], [[40, -36, 78], [-6, 82, 51], [-65, 110, 79]], [[32, -66, -100], [16, 116, -36], [96, -87, -98]]], [[[71, -117, 107], [53, -47, -19], [98, 59, -39]], [[-63, 41, 33], [127, 102, 70], [107, -113, 30]], [[-16, -21, -31], [-36, -52, 66], [81, -40, -15]], [[77, 52, -67], [35, 29, 5], [-91, -113, -40]]], [[[45, -98, 101], [4, -83, 12], [37, 33, -3]], [[101, -40, 66], [54, -96, 122], [22, -122, -5]], [[102, -74, -29], [34, 86, 116], [-83, -26, 56]], [[-69, -102, -64], [-42, 122, 121], [-43, 41, -65]]], [[[73, 46, -9], [63, -7, -33], [-1, 39, 70]], [[42, 58, 112], [-78, -17, -15], [-25, 11, -97]], [[19, -3, 110], [-59, 87, -95], [-89, -124, -31]], [[-21, -100, 77], [-121, 40, -108], [113, -81, -10]]]]> : tensor<4x4x3x3xi8>
  %z = nn.constant dense<7> : tensor<ui8>
  %v = nn.constant dense<0> : tensor<i8>
  %s = nn.constant dense<0.01> : tensor<f32>
  %t = nn.constant dense<0.5> : tensor<f32>
  %0 = nn.quantized_conv2d %x, %w, %z, %v {layout = "NHWC", pads = array<i64: 1, 1, 1, 1>} : (tensor<1x20x30x4xui8>, tensor<4x4x3x3xi8>, tensor<ui8>, tensor<i8>) -> tensor<1x20x30x4xi32>
  %1 = nn.cast %0 {to = f32} : (tensor<1x20x30x4xi32>) -> tensor<1x20x30x4xf32>
  %2 = nn.mul %1, %s : (tensor<1x20x30x4xf32>, tensor<f32>) -> tensor<1x20x30x4xf32>
  %3 = nn.cast %x {to = f32} : (tensor<1x20x30x4xui8>) -> tensor<1x20x30x4xf32>
  %4 = nn.mul %3, %t : (tensor<1x20x30x4xf32>, tensor<f32>) -> tensor<1x20x30x4xf32>
  %5 = nn.add %2, %4 : tensor<1x20x30x4xf32>
  return %5 : tensor<1x20x30x4xf32>
}
