// RUN: optc --passes=fuse
// What the kernel takes does not depend on sizes, so batch and sequence may be symbols.

func.func @main(%arg0: tensor<?x?x2x4xf32, #optc.dims<batch, seq>>, %arg1: tensor<?x1x?x?xf32, #optc.dims<batch, seq, seq>>) -> tensor<?x2x?x4xf32, #optc.dims<batch, seq>> {
  %0 = nn.transpose %arg0 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<?x?x2x4xf32, #optc.dims<batch, seq>>) -> tensor<?x2x?x4xf32, #optc.dims<batch, seq>>
  %1 = nn.matmul %0, %0 {transpose_b} : (tensor<?x2x?x4xf32, #optc.dims<batch, seq>>, tensor<?x2x?x4xf32, #optc.dims<batch, seq>>) -> tensor<?x2x?x?xf32, #optc.dims<batch, seq, seq>>
  %2 = nn.add %1, %arg1 : (tensor<?x2x?x?xf32, #optc.dims<batch, seq, seq>>, tensor<?x1x?x?xf32, #optc.dims<batch, seq, seq>>) -> tensor<?x2x?x?xf32, #optc.dims<batch, seq, seq>>
  %3 = nn.softmax %2 {axis = 3 : i64} : tensor<?x2x?x?xf32, #optc.dims<batch, seq, seq>>
  %4 = nn.matmul %3, %0 : (tensor<?x2x?x?xf32, #optc.dims<batch, seq, seq>>, tensor<?x2x?x4xf32, #optc.dims<batch, seq>>) -> tensor<?x2x?x4xf32, #optc.dims<batch, seq>>
  return %4 : tensor<?x2x?x4xf32, #optc.dims<batch, seq>>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<?x?x2x4xf32, #optc.dims<batch, seq>>, %arg1: tensor<?x1x?x?xf32, #optc.dims<batch, seq, seq>>) -> tensor<?x2x?x4xf32, #optc.dims<batch, seq>> attributes {optc.stage = "fuse"} {
//     %0 = nn.transpose %arg0 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<?x?x2x4xf32, #optc.dims<batch, seq>>) -> tensor<?x2x?x4xf32, #optc.dims<batch, seq>>
//     %1 = optc.group(%arg2 = %0, %arg3 = %arg1) : (tensor<?x2x?x4xf32, #optc.dims<batch, seq>>, tensor<?x1x?x?xf32, #optc.dims<batch, seq, seq>>) -> tensor<?x2x?x4xf32, #optc.dims<batch, seq>> {
//       %2 = nn.matmul %arg2, %arg2 {transpose_b} : (tensor<?x2x?x4xf32, #optc.dims<batch, seq>>, tensor<?x2x?x4xf32, #optc.dims<batch, seq>>) -> tensor<?x2x?x?xf32, #optc.dims<batch, seq, seq>>
//       %3 = nn.add %2, %arg3 : (tensor<?x2x?x?xf32, #optc.dims<batch, seq, seq>>, tensor<?x1x?x?xf32, #optc.dims<batch, seq, seq>>) -> tensor<?x2x?x?xf32, #optc.dims<batch, seq, seq>>
//       %4 = nn.softmax %3 {axis = 3 : i64} : tensor<?x2x?x?xf32, #optc.dims<batch, seq, seq>>
//       %5 = nn.matmul %4, %arg2 : (tensor<?x2x?x?xf32, #optc.dims<batch, seq, seq>>, tensor<?x2x?x4xf32, #optc.dims<batch, seq>>) -> tensor<?x2x?x4xf32, #optc.dims<batch, seq>>
//       optc.yield %5 : tensor<?x2x?x4xf32, #optc.dims<batch, seq>>
//     }
//     return %1 : tensor<?x2x?x4xf32, #optc.dims<batch, seq>>
//   }
// }
