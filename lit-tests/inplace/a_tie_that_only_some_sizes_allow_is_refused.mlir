// RUN: optc --passes=inplace
// At H = 1, the nominal size, the sum has the shape of its operand. That is no proof for all sizes, so it
// must not overwrite it.

func.func @main(%x: tensor<?x3x1x1xf32, #optc.dims<N>>, %y: tensor<?x3x?x1xf32, #optc.dims<N, H>>) -> tensor<?x3x?x1xf32, #optc.dims<N, H>> attributes {optc.dims = {H = [0, 1]}} {
  %0 = nn.exp %x : tensor<?x3x1x1xf32, #optc.dims<N>>
  %1 = nn.add %0, %y : (tensor<?x3x1x1xf32, #optc.dims<N>>, tensor<?x3x?x1xf32, #optc.dims<N, H>>) -> tensor<?x3x?x1xf32, #optc.dims<N, H>>
  return %1 : tensor<?x3x?x1xf32, #optc.dims<N, H>>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<?x3x1x1xf32, #optc.dims<N>>, %arg1: tensor<?x3x?x1xf32, #optc.dims<N, H>>) -> tensor<?x3x?x1xf32, #optc.dims<N, H>> attributes {optc.dims = {H = [0, 1]}, optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.exp %arg0 : tensor<?x3x1x1xf32, #optc.dims<N>>
//     %1 = nn.add %0, %arg1 : (tensor<?x3x1x1xf32, #optc.dims<N>>, tensor<?x3x?x1xf32, #optc.dims<N, H>>) -> tensor<?x3x?x1xf32, #optc.dims<N, H>>
//     return %1 : tensor<?x3x?x1xf32, #optc.dims<N, H>>
//   }
// }
