// RUN: optc --passes=inplace
// The caller keeps its inputs. Overwriting one without donation would corrupt the caller's data.

func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.exp %arg0 : tensor<4xf32>
  return %0 : tensor<4xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> attributes {optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.exp %arg0 {mem.kernel = "pointwise"} : tensor<4xf32>
//     return %0 : tensor<4xf32>
//   }
// }
