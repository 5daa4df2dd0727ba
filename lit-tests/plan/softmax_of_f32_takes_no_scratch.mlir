// RUN: optc --passes='plan' --threads=1
// One kernel computes softmax of columns, a few at a time, and another that of rows. For f64, loops keep each
// row's maximum and sum in scratch.

func.func @main(%x: tensor<2x30x8xf32>, %y: tensor<30x8xf64>) -> (tensor<2x30x8xf32>, tensor<2x30x8xf32>, tensor<30x8xf64>) {
  %0 = nn.softmax %x {axis = 1 : i64} : tensor<2x30x8xf32>
  %1 = nn.softmax %x {axis = 2 : i64} : tensor<2x30x8xf32>
  %2 = nn.softmax %y {axis = 1 : i64} : tensor<30x8xf64>
  return %0, %1, %2 : tensor<2x30x8xf32>, tensor<2x30x8xf32>, tensor<30x8xf64>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<2x30x8xf32>, %arg1: tensor<30x8xf64>) -> (tensor<2x30x8xf32>, tensor<2x30x8xf32>, tensor<30x8xf64>) attributes {optc.arena = 256 : i64, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.softmax %arg0 {axis = 1 : i64, mem.kernel = "softmax", mem.place = [["out", 0, 1920]]} : tensor<2x30x8xf32>
//     %1 = nn.softmax %arg0 {axis = 2 : i64, mem.kernel = "softmax", mem.place = [["out", 1, 1920]]} : tensor<2x30x8xf32>
//     %2 = nn.softmax %arg1 {axis = 1 : i64, mem.kernel = "softmax", mem.place = [["out", 2, 1920], ["arena", 0, 256]], mem.scratch = 256 : i64} : tensor<30x8xf64>
//     return %0, %1, %2 : tensor<2x30x8xf32>, tensor<2x30x8xf32>, tensor<30x8xf64>
//   }
// }
