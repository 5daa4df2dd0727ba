// RUN: optc --passes=fuse
// The weights of attention are returned, or its softmax goes along rows: then the kernel does not run it as one.

func.func @returned(%arg0: tensor<2x6x4xf32>, %arg1: tensor<2x4x6xf32>) -> (tensor<2x6x4xf32>, tensor<2x6x6xf32>) {
  %0 = nn.matmul %arg0, %arg1 : (tensor<2x6x4xf32>, tensor<2x4x6xf32>) -> tensor<2x6x6xf32>
  %1 = nn.softmax %0 {axis = 2 : i64} : tensor<2x6x6xf32>
  %2 = nn.matmul %1, %arg0 : (tensor<2x6x6xf32>, tensor<2x6x4xf32>) -> tensor<2x6x4xf32>
  return %2, %1 : tensor<2x6x4xf32>, tensor<2x6x6xf32>
}
func.func @along_rows(%arg0: tensor<2x6x4xf32>, %arg1: tensor<2x4x6xf32>) -> tensor<2x6x4xf32> {
  %0 = nn.matmul %arg0, %arg1 : (tensor<2x6x4xf32>, tensor<2x4x6xf32>) -> tensor<2x6x6xf32>
  %1 = nn.softmax %0 {axis = 1 : i64} : tensor<2x6x6xf32>
  %2 = nn.matmul %1, %arg0 : (tensor<2x6x6xf32>, tensor<2x6x4xf32>) -> tensor<2x6x4xf32>
  return %2 : tensor<2x6x4xf32>
}
// ----- output
// module {
//   func.func @returned(%arg0: tensor<2x6x4xf32>, %arg1: tensor<2x4x6xf32>) -> (tensor<2x6x4xf32>, tensor<2x6x6xf32>) attributes {optc.stage = "fuse"} {
//     %0 = nn.matmul %arg0, %arg1 : (tensor<2x6x4xf32>, tensor<2x4x6xf32>) -> tensor<2x6x6xf32>
//     %1 = nn.softmax %0 {axis = 2 : i64} : tensor<2x6x6xf32>
//     %2 = nn.matmul %1, %arg0 : (tensor<2x6x6xf32>, tensor<2x6x4xf32>) -> tensor<2x6x4xf32>
//     return %2, %1 : tensor<2x6x4xf32>, tensor<2x6x6xf32>
//   }
//   func.func @along_rows(%arg0: tensor<2x6x4xf32>, %arg1: tensor<2x4x6xf32>) -> tensor<2x6x4xf32> attributes {optc.stage = "fuse"} {
//     %0 = nn.matmul %arg0, %arg1 : (tensor<2x6x4xf32>, tensor<2x4x6xf32>) -> tensor<2x6x6xf32>
//     %1 = nn.softmax %0 {axis = 1 : i64} : tensor<2x6x6xf32>
//     %2 = nn.matmul %1, %arg0 : (tensor<2x6x6xf32>, tensor<2x6x4xf32>) -> tensor<2x6x4xf32>
//     return %2 : tensor<2x6x4xf32>
//   }
// }
