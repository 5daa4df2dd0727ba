// RUN: optc --passes=variants
// The text is what this pass printed. A second variant of the same name would be a symbol that is defined
// twice, so that no pipeline with `variants` in it could take the text.

func.func private @main_at_N_1(%x: tensor<1x4x8xf32>) -> tensor<4x1x8xf32> attributes {optc.guard = {N = 1 : i64}} {
  %0 = nn.transpose %x {permutation = array<i64: 1, 0, 2>} : (tensor<1x4x8xf32>) -> tensor<4x1x8xf32>
  return %0 : tensor<4x1x8xf32>
}
func.func @main(%x: tensor<?x4x8xf32, #optc.dims<N>>) -> tensor<4x?x8xf32, #optc.dims<N>> attributes {optc.variants = [@main_at_N_1]} {
  %0 = nn.transpose %x {permutation = array<i64: 1, 0, 2>} : (tensor<?x4x8xf32, #optc.dims<N>>) -> tensor<4x?x8xf32, #optc.dims<N>>
  return %0 : tensor<4x?x8xf32, #optc.dims<N>>
}
// ----- output
// module {
//   func.func private @main_at_N_1(%arg0: tensor<1x4x8xf32>) -> tensor<4x1x8xf32> attributes {optc.guard = {N = 1 : i64}} {
//     %0 = nn.transpose %arg0 {permutation = array<i64: 1, 0, 2>} : (tensor<1x4x8xf32>) -> tensor<4x1x8xf32>
//     return %0 : tensor<4x1x8xf32>
//   }
//   func.func @main(%arg0: tensor<?x4x8xf32, #optc.dims<N>>) -> tensor<4x?x8xf32, #optc.dims<N>> attributes {optc.variants = [@main_at_N_1]} {
//     %0 = nn.transpose %arg0 {permutation = array<i64: 1, 0, 2>} : (tensor<?x4x8xf32, #optc.dims<N>>) -> tensor<4x?x8xf32, #optc.dims<N>>
//     return %0 : tensor<4x?x8xf32, #optc.dims<N>>
//   }
// }
