// RUN: optc --passes='plan' --threads=1
// One kernel computes softmax along an axis that is not the last, a few columns at a time, without scratch.
// Along the last axis, loops keep each row's maximum and sum there.

func.func @main(%x: tensor<2x30x8xf32>) -> (tensor<2x30x8xf32>, tensor<2x30x8xf32>) {
  %0 = nn.softmax %x {axis = 1 : i64} : tensor<2x30x8xf32>
  %1 = nn.softmax %x {axis = 2 : i64} : tensor<2x30x8xf32>
  return %0, %1 : tensor<2x30x8xf32>, tensor<2x30x8xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<2x30x8xf32>) -> (tensor<2x30x8xf32>, tensor<2x30x8xf32>) attributes {optc.arena = 0 : i64, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.softmax %arg0 {axis = 1 : i64, mem.kernel = "softmax", mem.place = [["out", 0, 1920]]} : tensor<2x30x8xf32>
//     %1 = nn.softmax %arg0 {axis = 2 : i64, mem.kernel = "softmax", mem.place = [["out", 1, 1920]]} : tensor<2x30x8xf32>
//     return %0, %1 : tensor<2x30x8xf32>, tensor<2x30x8xf32>
//   }
// }
