// RUN: optc --passes=fuse,inplace,plan --threads=1
// The compressed value has the bytes of its upper bound, 8 rows. Views of it need no place of their own, and
// its last reader overwrites it.

func.func @main(%x: tensor<8x6xf32>, %c: tensor<8xi1>) -> (tensor<4x6xf32>, tensor<8x2x3xf32> {optc.open = array<i64: 0, 2>}, tensor<i64> {optc.count}) {
  %0, %1 = nn.compress %x, %c {axis = 0 : i64} : (tensor<8x6xf32>, tensor<8xi1>) -> (tensor<8x6xf32>, tensor<i64>)
  %2 = nn.slice %0 {starts = array<i64: 2, 0>, sizes = array<i64: 4, 6>} : (tensor<8x6xf32>) -> tensor<4x6xf32>
  %3 = nn.tanh %2 : tensor<4x6xf32>
  %4 = nn.reshape %0 {shape = array<i64: 8, 2, 3>} : (tensor<8x6xf32>) -> tensor<8x2x3xf32>
  %5 = nn.neg %4 : tensor<8x2x3xf32>
  return %3, %5, %1 : tensor<4x6xf32>, tensor<8x2x3xf32>, tensor<i64>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<8x6xf32>, %arg1: tensor<8xi1>) -> (tensor<4x6xf32>, tensor<8x2x3xf32> {optc.open = array<i64: 0, 2>}, tensor<i64> {optc.count}) attributes {optc.arena = 0 : i64, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0:2 = nn.compress %arg0, %arg1 {axis = 0 : i64, mem.kernel = "compress", mem.place = [["out", 1, 192], ["out", 2, 8]]} : (tensor<8x6xf32>, tensor<8xi1>) -> (tensor<8x6xf32>, tensor<i64>)
//     %1 = nn.slice %0#0 {mem.kernel = "copy", sizes = array<i64: 4, 6>, starts = array<i64: 2, 0>} : (tensor<8x6xf32>) -> tensor<4x6xf32>
//     %2 = nn.tanh %1 {mem.kernel = "pointwise", mem.place = [["out", 0, 96]]} : tensor<4x6xf32>
//     %3 = nn.reshape %0#0 {mem.kernel = "copy", shape = array<i64: 8, 2, 3>} : (tensor<8x6xf32>) -> tensor<8x2x3xf32>
//     %4 = nn.neg %3 {mem.kernel = "pointwise", mem.place = [["out", 1, 192]], mem.tie = array<i64: 0>} : tensor<8x2x3xf32>
//     return %2, %4, %0#1 : tensor<4x6xf32>, tensor<8x2x3xf32>, tensor<i64>
//   }
// }
