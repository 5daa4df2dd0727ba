// RUN: optc --passes=inplace
// A result that is smaller than the buffer does not overwrite a slice of it: only a whole value is reused.

func.func @main(%arg0: tensor<4xf32>) -> tensor<2xf32> {
  %0 = nn.exp %arg0 : tensor<4xf32>
  %1 = nn.slice %0 {starts = array<i64: 0>, sizes = array<i64: 2>} : (tensor<4xf32>) -> tensor<2xf32>
  %2 = nn.neg %1 : tensor<2xf32>
  return %2 : tensor<2xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<4xf32>) -> tensor<2xf32> attributes {optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.exp %arg0 {mem.kernel = "pointwise"} : tensor<4xf32>
//     %1 = nn.slice %0 {mem.kernel = "copy", sizes = array<i64: 2>, starts = array<i64: 0>} : (tensor<4xf32>) -> tensor<2xf32>
//     %2 = nn.neg %1 {mem.kernel = "pointwise"} : tensor<2xf32>
//     return %2 : tensor<2xf32>
//   }
// }
