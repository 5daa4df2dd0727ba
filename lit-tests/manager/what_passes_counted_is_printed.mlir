// RUN: optc --passes='func(simplify,dce)' --statistics
// The option `--statistics` prints what each pass counted, also for passes inside a nest.

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.exp %x : tensor<4xf32>
  %1 = nn.exp %x : tensor<4xf32>
  %2 = nn.add %0, %1 : tensor<4xf32>
  %3 = nn.neg %2 : tensor<4xf32>
  return %2 : tensor<4xf32>
}
// ----- output
// simplify              0 made
// simplify              2 removed
// verify                2 bodies
// dce                   0 removed
// module {
//   func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> attributes {optc.stage = "simplify"} {
//     %0 = nn.exp %arg0 : tensor<4xf32>
//     %1 = nn.add %0, %0 : tensor<4xf32>
//     return %1 : tensor<4xf32>
//   }
// }
