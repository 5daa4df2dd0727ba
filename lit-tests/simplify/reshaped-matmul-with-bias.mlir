// RUN: optc --passes='simplify{laws=reshaped-matmul-with-bias+reshape-of-reshape+reshape-to-same-shape}'
// The law with a bias, at named sizes: rows count the same whether they have one axis or two.

func.func @main(%x: tensor<?x?x4xf32, #optc.dims<batch, seq>>, %w: tensor<4x10xf32>, %b: tensor<10xf32>) -> tensor<?x?x10xf32, #optc.dims<batch, seq>> {
  %0 = nn.reshape %x {shape = #optc.dims<batch * seq, 4>} : (tensor<?x?x4xf32, #optc.dims<batch, seq>>) -> tensor<?x4xf32, #optc.dims<batch * seq>>
  %1 = nn.matmul %0, %w, %b : (tensor<?x4xf32, #optc.dims<batch * seq>>, tensor<4x10xf32>, tensor<10xf32>) -> tensor<?x10xf32, #optc.dims<batch * seq>>
  %2 = nn.reshape %1 {shape = #optc.dims<batch, seq, 10>} : (tensor<?x10xf32, #optc.dims<batch * seq>>) -> tensor<?x?x10xf32, #optc.dims<batch, seq>>
  return %2 : tensor<?x?x10xf32, #optc.dims<batch, seq>>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<?x?x4xf32, #optc.dims<batch, seq>>, %arg1: tensor<4x10xf32>, %arg2: tensor<10xf32>) -> tensor<?x?x10xf32, #optc.dims<batch, seq>> attributes {optc.stage = "simplify"} {
//     %0 = nn.matmul %arg0, %arg1, %arg2 : (tensor<?x?x4xf32, #optc.dims<batch, seq>>, tensor<4x10xf32>, tensor<10xf32>) -> tensor<?x?x10xf32, #optc.dims<batch, seq>>
//     return %0 : tensor<?x?x10xf32, #optc.dims<batch, seq>>
//   }
// }
