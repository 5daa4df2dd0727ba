// RUN: optc --passes=inplace
// A weight is read again at the next run, so no result may overwrite it.

func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.constant dense<1.0> : tensor<4xf32>
  %1 = nn.sub %0, %arg0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> attributes {optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.constant dense<1.000000e+00> : tensor<4xf32>
//     %1 = nn.sub %0, %arg0 {mem.kernel = "pointwise"} : tensor<4xf32>
//     return %1 : tensor<4xf32>
//   }
// }
