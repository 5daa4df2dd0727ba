// RUN: optc --passes=inplace,plan
// The producer writes into the middle of the padded buffer, so the padding only fills the border and copies
// nothing.

func.func @main(%x: tensor<1x4x4x8xf32>, %w: tensor<1x6x6x8xf32>) -> tensor<1x6x6x8xf32> {
  %0 = nn.exp %x : tensor<1x4x4x8xf32>
  %1 = nn.pad %0 {low = array<i64: 0, 1, 1, 0>, high = array<i64: 0, 1, 1, 0>, value = 2.0 : f32} : (tensor<1x4x4x8xf32>) -> tensor<1x6x6x8xf32>
  %2 = nn.mul %1, %w : tensor<1x6x6x8xf32>
  %3 = nn.softmax %2 {axis = 3 : i64} : tensor<1x6x6x8xf32>
  return %3 : tensor<1x6x6x8xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x4x4x8xf32>, %arg1: tensor<1x6x6x8xf32>) -> tensor<1x6x6x8xf32> attributes {optc.arena = 0 : i64, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.exp %arg0 {mem.kernel = "pointwise", mem.pitch = array<i64: 128, 192>, mem.place = [["out", 0, 512, 224, 128, 192]]} : tensor<1x4x4x8xf32>
//     %1 = nn.pad %0 {high = array<i64: 0, 1, 1, 0>, low = array<i64: 0, 1, 1, 0>, mem.kernel = "pad", mem.parts = array<i64: 0>, mem.place = [["out", 0, 1152]], value = 2.000000e+00 : f32} : (tensor<1x4x4x8xf32>) -> tensor<1x6x6x8xf32>
//     %2 = nn.mul %1, %arg1 {mem.kernel = "pointwise", mem.place = [["out", 0, 1152]], mem.tie = array<i64: 0>} : tensor<1x6x6x8xf32>
//     %3 = nn.softmax %2 {axis = 3 : i64, mem.kernel = "softmax", mem.place = [["out", 0, 1152]], mem.tie = array<i64: 0>} : tensor<1x6x6x8xf32>
//     return %3 : tensor<1x6x6x8xf32>
//   }
// }
