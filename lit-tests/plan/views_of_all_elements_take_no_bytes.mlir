// RUN: optc --passes=plan
// Reshapes, and transposes or slices that keep all elements in order, share their operand's bytes.

func.func @main(%x: tensor<4x8xf32>) -> tensor<32xf32> {
  %0 = nn.sqrt %x : tensor<4x8xf32>
  %1 = nn.reshape %0 {shape = array<i64: 1, 32>} : (tensor<4x8xf32>) -> tensor<1x32xf32>
  %2 = nn.transpose %1 {permutation = array<i64: 1, 0>} : (tensor<1x32xf32>) -> tensor<32x1xf32>
  %3 = nn.slice %2 {sizes = array<i64: 32, 1>, starts = array<i64: 0, 0>} : (tensor<32x1xf32>) -> tensor<32x1xf32>
  %4 = nn.broadcast %3 {shape = array<i64: 32, 1>} : (tensor<32x1xf32>) -> tensor<32x1xf32>
  %5 = nn.reshape %4 {shape = array<i64: 32>} : (tensor<32x1xf32>) -> tensor<32xf32>
  %6 = nn.neg %5 : tensor<32xf32>
  return %6 : tensor<32xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<4x8xf32>) -> tensor<32xf32> attributes {optc.arena = 128 : i64, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.sqrt %arg0 {mem.kernel = "pointwise", mem.place = [["arena", 0, 128]]} : tensor<4x8xf32>
//     %1 = nn.reshape %0 {mem.kernel = "copy", shape = array<i64: 1, 32>} : (tensor<4x8xf32>) -> tensor<1x32xf32>
//     %2 = nn.reshape %1 {mem.kernel = "copy", shape = array<i64: 32, 1>} : (tensor<1x32xf32>) -> tensor<32x1xf32>
//     %3 = nn.slice %2 {mem.kernel = "copy", sizes = array<i64: 32, 1>, starts = array<i64: 0, 0>} : tensor<32x1xf32>
//     %4 = nn.broadcast %3 {mem.kernel = "copy", shape = array<i64: 32, 1>} : tensor<32x1xf32>
//     %5 = nn.neg %4 {mem.kernel = "pointwise", mem.place = [["out", 0, 128]]} : tensor<32x1xf32>
//     %6 = nn.reshape %5 {mem.kernel = "copy", shape = array<i64: 32>} : (tensor<32x1xf32>) -> tensor<32xf32>
//     return %6 : tensor<32xf32>
//   }
// }
