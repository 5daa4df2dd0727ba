// RUN: optc --passes=inplace,plan
// An operand may be read after the concatenation that it lies in: its bytes are still there, at the
// concatenation's pitch.

func.func @main(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = nn.neg %x : tensor<2x3xf32>
  %1 = nn.abs %x : tensor<2x3xf32>
  %2 = nn.concat %0, %1 {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
  %3 = nn.slice %2 {starts = array<i64: 0, 2>, sizes = array<i64: 2, 3>} : (tensor<2x6xf32>) -> tensor<2x3xf32>
  %4 = nn.mul %0, %3 : tensor<2x3xf32>
  %5 = nn.add %1, %4 : tensor<2x3xf32>
  return %4, %5 : tensor<2x3xf32>, tensor<2x3xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) attributes {optc.arena = 48 : i64, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.neg %arg0 {mem.kernel = "pointwise", mem.pitch = array<i64: 12, 24>, mem.place = [["arena", 0, 24, 0, 12, 24]]} : tensor<2x3xf32>
//     %1 = nn.abs %arg0 {mem.kernel = "pointwise", mem.pitch = array<i64: 12, 24>, mem.place = [["arena", 0, 24, 12, 12, 24]]} : tensor<2x3xf32>
//     %2 = nn.concat %0, %1 {axis = 1 : i64, mem.parts = array<i64: 0, 1>, mem.place = [["arena", 0, 48]]} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
//     %3 = nn.slice %2 {mem.view, sizes = array<i64: 2, 3>, starts = array<i64: 0, 2>} : (tensor<2x6xf32>) -> tensor<2x3xf32>
//     %4 = nn.mul %0, %3 {mem.kernel = "pointwise", mem.place = [["out", 0, 24]]} : tensor<2x3xf32>
//     %5 = nn.add %1, %4 {mem.kernel = "pointwise", mem.place = [["out", 1, 24]]} : tensor<2x3xf32>
//     return %4, %5 : tensor<2x3xf32>, tensor<2x3xf32>
//   }
// }
