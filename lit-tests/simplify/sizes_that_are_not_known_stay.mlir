// RUN: optc --passes=simplify
// Laws apply to values of unknown size where shapes are provably equal, and the `?` stays in every type.

func.func @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = nn.constant dense<1.0> : tensor<f32>
  %1 = nn.sigmoid %x : tensor<?x4xf32>
  %2 = nn.mul %x, %1 : tensor<?x4xf32>
  %3 = nn.mul %2, %0 : (tensor<?x4xf32>, tensor<f32>) -> tensor<?x4xf32>
  return %3 : tensor<?x4xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<?x4xf32>) -> tensor<?x4xf32> attributes {optc.stage = "simplify"} {
//     %0 = nn.silu %arg0 : tensor<?x4xf32>
//     return %0 : tensor<?x4xf32>
//   }
// }
