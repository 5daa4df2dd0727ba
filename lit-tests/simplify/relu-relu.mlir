// RUN: optc --passes='simplify{laws=relu-relu}'
// The law `relu(relu(x)) = relu(x)`.

func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = nn.relu %x : tensor<2x3xf32>
  %1 = nn.relu %0 : tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> attributes {optc.stage = "simplify"} {
//     %0 = nn.relu %arg0 : tensor<2x3xf32>
//     return %0 : tensor<2x3xf32>
//   }
// }
