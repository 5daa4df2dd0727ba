// RUN: my-opt --passes=canonicalize

func.func @odd(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = nn.neg %x : tensor<8xf32>
  %1 = my.softsign %0 : tensor<8xf32>
  %2 = nn.neg %1 : tensor<8xf32>
  return %2 : tensor<8xf32>
}

func.func @not_a_negation(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = nn.abs %x : tensor<8xf32>
  %1 = my.softsign %0 : tensor<8xf32>
  return %1 : tensor<8xf32>
}
// ----- output
// module {
//   func.func @odd(%arg0: tensor<8xf32>) -> tensor<8xf32> {
//     %0 = my.softsign %arg0 : tensor<8xf32>
//     return %0 : tensor<8xf32>
//   }
//   func.func @not_a_negation(%arg0: tensor<8xf32>) -> tensor<8xf32> {
//     %0 = nn.abs %arg0 : tensor<8xf32>
//     %1 = my.softsign %0 : tensor<8xf32>
//     return %1 : tensor<8xf32>
//   }
// }
