// RUN: optc --passes=fuse
// Fusion needs shapes that are proved equal: different expressions of one value qualify, different names and
// unknown sizes do not, because they could differ at a run.

func.func @equal(%x: tensor<?x4xf32, #optc.dims<N ceildiv 2>>, %y: tensor<?x4xf32, #optc.dims<N - N floordiv 2>>) -> tensor<?x4xf32, #optc.dims<N ceildiv 2>> {
  %0 = nn.exp %x : tensor<?x4xf32, #optc.dims<N ceildiv 2>>
  %1 = nn.add %0, %y : (tensor<?x4xf32, #optc.dims<N ceildiv 2>>, tensor<?x4xf32, #optc.dims<N - N floordiv 2>>) -> tensor<?x4xf32, #optc.dims<N ceildiv 2>>
  return %1 : tensor<?x4xf32, #optc.dims<N ceildiv 2>>
}

func.func @another_symbol(%x: tensor<?x4xf32, #optc.dims<N>>, %y: tensor<?x4xf32, #optc.dims<M + 2>>) -> tensor<?x4xf32, #optc.dims<M + 2>> {
  %0 = nn.exp %x : tensor<?x4xf32, #optc.dims<N>>
  %1 = nn.add %0, %y : (tensor<?x4xf32, #optc.dims<N>>, tensor<?x4xf32, #optc.dims<M + 2>>) -> tensor<?x4xf32, #optc.dims<M + 2>>
  return %1 : tensor<?x4xf32, #optc.dims<M + 2>>
}

func.func @unknown(%x: tensor<?x3x1x1xf32>, %y: tensor<?x3x?x?xf32>) -> tensor<?x3x?x?xf32> {
  %0 = nn.exp %x : tensor<?x3x1x1xf32>
  %1 = nn.neg %0 : tensor<?x3x1x1xf32>
  %2 = nn.add %1, %y : (tensor<?x3x1x1xf32>, tensor<?x3x?x?xf32>) -> tensor<?x3x?x?xf32>
  return %2 : tensor<?x3x?x?xf32>
}
// ----- output
// module {
//   func.func @equal(%arg0: tensor<?x4xf32, #optc.dims<N ceildiv 2>>, %arg1: tensor<?x4xf32, #optc.dims<N - (N floordiv 2)>>) -> tensor<?x4xf32, #optc.dims<N ceildiv 2>> attributes {optc.stage = "fuse"} {
//     %0 = optc.group(%arg2 = %arg0, %arg3 = %arg1) : (tensor<?x4xf32, #optc.dims<N ceildiv 2>>, tensor<?x4xf32, #optc.dims<N - (N floordiv 2)>>) -> tensor<?x4xf32, #optc.dims<N ceildiv 2>> {
//       %1 = nn.exp %arg2 : tensor<?x4xf32, #optc.dims<N ceildiv 2>>
//       %2 = nn.add %1, %arg3 : (tensor<?x4xf32, #optc.dims<N ceildiv 2>>, tensor<?x4xf32, #optc.dims<N - (N floordiv 2)>>) -> tensor<?x4xf32, #optc.dims<N ceildiv 2>>
//       optc.yield %2 : tensor<?x4xf32, #optc.dims<N ceildiv 2>>
//     }
//     return %0 : tensor<?x4xf32, #optc.dims<N ceildiv 2>>
//   }
//   func.func @another_symbol(%arg0: tensor<?x4xf32, #optc.dims<N>>, %arg1: tensor<?x4xf32, #optc.dims<M + 2>>) -> tensor<?x4xf32, #optc.dims<M + 2>> attributes {optc.stage = "fuse"} {
//     %0 = nn.exp %arg0 : tensor<?x4xf32, #optc.dims<N>>
//     %1 = nn.add %0, %arg1 : (tensor<?x4xf32, #optc.dims<N>>, tensor<?x4xf32, #optc.dims<M + 2>>) -> tensor<?x4xf32, #optc.dims<M + 2>>
//     return %1 : tensor<?x4xf32, #optc.dims<M + 2>>
//   }
//   func.func @unknown(%arg0: tensor<?x3x1x1xf32>, %arg1: tensor<?x3x?x?xf32>) -> tensor<?x3x?x?xf32> attributes {optc.stage = "fuse"} {
//     %0 = nn.exp %arg0 : tensor<?x3x1x1xf32>
//     %1 = nn.neg %0 : tensor<?x3x1x1xf32>
//     %2 = nn.add %1, %arg1 : (tensor<?x3x1x1xf32>, tensor<?x3x?x?xf32>) -> tensor<?x3x?x?xf32>
//     return %2 : tensor<?x3x?x?xf32>
//   }
// }
