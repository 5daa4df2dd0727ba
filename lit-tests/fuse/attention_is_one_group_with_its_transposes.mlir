// RUN: optc --passes=fuse
// The scores of all rows and keys are never stored: the kernel makes them block by block. What stands around
// them as PyTorch exports it (transposes of heads, the scaling of q and of the scores, the mask) is read and
// written where it lies; the reshapes at the ends move no bytes and stay outside.

func.func @main(%arg0: tensor<1x10x12xf32>, %arg1: tensor<1x9x12xf32>, %arg2: tensor<1x9x12xf32>, %arg3: tensor<1x1x1x9xf32>) -> tensor<1x10x12xf32> {
  %0 = nn.reshape %arg0 {shape = array<i64: 1, 10, 3, 4>} : (tensor<1x10x12xf32>) -> tensor<1x10x3x4xf32>
  %1 = nn.transpose %0 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x10x3x4xf32>) -> tensor<1x3x10x4xf32>
  %2 = nn.reshape %arg1 {shape = array<i64: 1, 9, 3, 4>} : (tensor<1x9x12xf32>) -> tensor<1x9x3x4xf32>
  %3 = nn.transpose %2 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x9x3x4xf32>) -> tensor<1x3x4x9xf32>
  %4 = nn.reshape %arg2 {shape = array<i64: 1, 9, 3, 4>} : (tensor<1x9x12xf32>) -> tensor<1x9x3x4xf32>
  %5 = nn.transpose %4 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x9x3x4xf32>) -> tensor<1x3x9x4xf32>
  %6 = nn.constant dense<0.5> : tensor<1xf32>
  %7 = nn.mul %1, %6 : (tensor<1x3x10x4xf32>, tensor<1xf32>) -> tensor<1x3x10x4xf32>
  %8 = nn.matmul %7, %3 : (tensor<1x3x10x4xf32>, tensor<1x3x4x9xf32>) -> tensor<1x3x10x9xf32>
  %9 = nn.add %8, %arg3 : (tensor<1x3x10x9xf32>, tensor<1x1x1x9xf32>) -> tensor<1x3x10x9xf32>
  %10 = nn.softmax %9 {axis = 3 : i64} : tensor<1x3x10x9xf32>
  %11 = nn.matmul %10, %5 : (tensor<1x3x10x9xf32>, tensor<1x3x9x4xf32>) -> tensor<1x3x10x4xf32>
  %12 = nn.transpose %11 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x3x10x4xf32>) -> tensor<1x10x3x4xf32>
  %13 = nn.reshape %12 {shape = array<i64: 1, 10, 12>} : (tensor<1x10x3x4xf32>) -> tensor<1x10x12xf32>
  return %13 : tensor<1x10x12xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x10x12xf32>, %arg1: tensor<1x9x12xf32>, %arg2: tensor<1x9x12xf32>, %arg3: tensor<1x1x1x9xf32>) -> tensor<1x10x12xf32> attributes {optc.stage = "fuse"} {
//     %0 = nn.reshape %arg0 {shape = array<i64: 1, 10, 3, 4>} : (tensor<1x10x12xf32>) -> tensor<1x10x3x4xf32>
//     %1 = nn.reshape %arg1 {shape = array<i64: 1, 9, 3, 4>} : (tensor<1x9x12xf32>) -> tensor<1x9x3x4xf32>
//     %2 = nn.reshape %arg2 {shape = array<i64: 1, 9, 3, 4>} : (tensor<1x9x12xf32>) -> tensor<1x9x3x4xf32>
//     %3 = nn.constant dense<5.000000e-01> : tensor<1xf32>
//     %4 = nn.reshape %3 {shape = array<i64: 1, 1, 1, 1>} : (tensor<1xf32>) -> tensor<1x1x1x1xf32>
//     %5 = nn.reshape %4 {shape = array<i64: 1, 1, 1, 1>} : tensor<1x1x1x1xf32>
//     %6 = optc.group(%arg4 = %1, %arg5 = %2, %arg6 = %0, %arg7 = %5, %arg8 = %arg3) : (tensor<1x9x3x4xf32>, tensor<1x9x3x4xf32>, tensor<1x10x3x4xf32>, tensor<1x1x1x1xf32>, tensor<1x1x1x9xf32>) -> tensor<1x10x3x4xf32> {
//       %8 = nn.transpose %arg4 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x9x3x4xf32>) -> tensor<1x3x4x9xf32>
//       %9 = nn.transpose %arg5 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x9x3x4xf32>) -> tensor<1x3x9x4xf32>
//       %10 = nn.mul %arg6, %arg7 : (tensor<1x10x3x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x10x3x4xf32>
//       %11 = nn.transpose %10 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x10x3x4xf32>) -> tensor<1x3x10x4xf32>
//       %12 = nn.matmul %11, %8 : (tensor<1x3x10x4xf32>, tensor<1x3x4x9xf32>) -> tensor<1x3x10x9xf32>
//       %13 = nn.add %12, %arg8 : (tensor<1x3x10x9xf32>, tensor<1x1x1x9xf32>) -> tensor<1x3x10x9xf32>
//       %14 = nn.softmax %13 {axis = 3 : i64} : tensor<1x3x10x9xf32>
//       %15 = nn.matmul %14, %9 : (tensor<1x3x10x9xf32>, tensor<1x3x9x4xf32>) -> tensor<1x3x10x4xf32>
//       %16 = nn.transpose %15 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x3x10x4xf32>) -> tensor<1x10x3x4xf32>
//       optc.yield %16 : tensor<1x10x3x4xf32>
//     }
//     %7 = nn.reshape %6 {shape = array<i64: 1, 10, 12>} : (tensor<1x10x3x4xf32>) -> tensor<1x10x12xf32>
//     return %7 : tensor<1x10x12xf32>
//   }
// }
