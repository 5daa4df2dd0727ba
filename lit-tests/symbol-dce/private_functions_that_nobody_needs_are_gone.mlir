// RUN: optc --passes=symbol-dce --statistics
// Two private functions that only call each other are unused as well; counting references would keep them.

func.func private @declared(tensor<4xf32>) -> tensor<4xf32>

func.func private @unused(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @used_by_unused(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

func.func private @used_by_unused(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @unused(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

func.func private @used(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @used(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// ----- output
// symbol-dce            3 removed
// verify                1 bodies
// module {
//   func.func private @used(%arg0: tensor<4xf32>) -> tensor<4xf32> {
//     return %arg0 : tensor<4xf32>
//   }
//   func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
//     %0 = call @used(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
//     return %0 : tensor<4xf32>
//   }
// }
