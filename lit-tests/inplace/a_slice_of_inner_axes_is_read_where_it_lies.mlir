// RUN: optc --passes=inplace
// A slice with gaps between its rows needs no copy if all readers take a row pitch.

func.func @main(%x: tensor<2x8xf32>) -> tensor<2x4xf32> {
  %0 = nn.exp %x : tensor<2x8xf32>
  %1 = nn.slice %0 {starts = array<i64: 0, 0>, sizes = array<i64: 2, 4>} : (tensor<2x8xf32>) -> tensor<2x4xf32>
  %2 = nn.slice %0 {starts = array<i64: 0, 4>, sizes = array<i64: 2, 4>} : (tensor<2x8xf32>) -> tensor<2x4xf32>
  %3 = nn.reshape %2 {shape = array<i64: 2, 2, 2>} : (tensor<2x4xf32>) -> tensor<2x2x2xf32>
  %4 = nn.exp %3 : tensor<2x2x2xf32>
  %5 = nn.reshape %4 {shape = array<i64: 2, 4>} : (tensor<2x2x2xf32>) -> tensor<2x4xf32>
  %6 = nn.mul %1, %5 : tensor<2x4xf32>
  return %6 : tensor<2x4xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<2x8xf32>) -> tensor<2x4xf32> attributes {optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.exp %arg0 {mem.kernel = "pointwise"} : tensor<2x8xf32>
//     %1 = nn.slice %0 {mem.view, sizes = array<i64: 2, 4>, starts = array<i64: 0, 0>} : (tensor<2x8xf32>) -> tensor<2x4xf32>
//     %2 = nn.slice %0 {mem.view, sizes = array<i64: 2, 4>, starts = array<i64: 0, 4>} : (tensor<2x8xf32>) -> tensor<2x4xf32>
//     %3 = nn.reshape %2 {mem.kernel = "copy", shape = array<i64: 2, 2, 2>} : (tensor<2x4xf32>) -> tensor<2x2x2xf32>
//     %4 = nn.exp %3 {mem.kernel = "pointwise"} : tensor<2x2x2xf32>
//     %5 = nn.reshape %4 {mem.kernel = "copy", shape = array<i64: 2, 4>} : (tensor<2x2x2xf32>) -> tensor<2x4xf32>
//     %6 = nn.mul %1, %5 {mem.kernel = "pointwise", mem.tie = array<i64: 1>} : tensor<2x4xf32>
//     return %6 : tensor<2x4xf32>
//   }
// }
