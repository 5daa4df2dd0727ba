// RUN: optc --passes=simplify
// Large weights from a file are not multiplied at compile time into new constants; the product stays an
// expression, so the file's bytes stay shared.

func.func @main(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %w = nn.constant dense_resource<w> : tensor<2x2x1x1xf32>
  %k = nn.constant dense_resource<k> : tensor<2x1x1xf32>
  %0 = nn.conv2d %x, %w : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %1 = nn.mul %0, %k : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  return %1 : tensor<1x2x4x4xf32>
}

{-#
  dialect_resources: {
    builtin: {
      k: "0x040000000000803F00000040",
      w: "0x040000000000803F000000400000404000008040"
    }
  }
#-}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> attributes {optc.stage = "simplify"} {
//     %0 = nn.constant dense_resource<w> : tensor<2x2x1x1xf32>
//     %1 = nn.constant dense_resource<k> : tensor<2x1x1xf32>
//     %2 = nn.reshape %1 {shape = array<i64: 2, 1, 1, 1>} : (tensor<2x1x1xf32>) -> tensor<2x1x1x1xf32>
//     %3 = nn.mul %0, %2 : (tensor<2x2x1x1xf32>, tensor<2x1x1x1xf32>) -> tensor<2x2x1x1xf32>
//     %4 = nn.conv2d %arg0, %3 : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
//     return %4 : tensor<1x2x4x4xf32>
//   }
// }
//
// {-#
//   dialect_resources: {
//     builtin: {
//       w: "0x040000000000803F000000400000404000008040",
//       k: "0x040000000000803F00000040"
//     }
//   }
// #-}
