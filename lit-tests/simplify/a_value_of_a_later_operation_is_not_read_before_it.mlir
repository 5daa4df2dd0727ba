// RUN: optc --passes=simplify
// The rewritten sum must stay after the call whose result it reads, though its other operand is known before.

func.func private @g() -> (tensor<4xf32>, tensor<4xf32>)

func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = nn.neg %x : tensor<4xf32>
  %1 = nn.exp %0 : tensor<4xf32>
  %2:2 = call @g() : () -> (tensor<4xf32>, tensor<4xf32>)
  %3 = nn.neg %2#1 : tensor<4xf32>
  %4 = nn.neg %3 : tensor<4xf32>
  %5 = nn.add %1, %4 : tensor<4xf32>
  return %5, %1 : tensor<4xf32>, tensor<4xf32>
}
// ----- output
// module {
//   func.func private @g() -> (tensor<4xf32>, tensor<4xf32>)
//   func.func @main(%arg0: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {optc.stage = "simplify"} {
//     %0 = nn.neg %arg0 : tensor<4xf32>
//     %1 = nn.exp %0 : tensor<4xf32>
//     %2:2 = call @g() : () -> (tensor<4xf32>, tensor<4xf32>)
//     %3 = nn.add %1, %2#1 : tensor<4xf32>
//     return %3, %1 : tensor<4xf32>, tensor<4xf32>
//   }
// }
