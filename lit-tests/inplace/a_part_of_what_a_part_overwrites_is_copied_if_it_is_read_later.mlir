// RUN: optc --passes=inplace,plan
// The concatenation %1 is overwritten at its place in another one. Its part %0 is read after that in the first
// function, so it is copied there; in the second one it is made in place.

func.func @late(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<24xf32>, tensor<f32>) {
  %0 = nn.exp %x : tensor<8xf32>
  %1 = nn.concat %0, %y {axis = 0} : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>
  %2 = nn.relu %1 : tensor<16xf32>
  %3 = nn.concat %y, %2 {axis = 0} : (tensor<8xf32>, tensor<16xf32>) -> tensor<24xf32>
  %4 = nn.reduce_sum %0 {axes = array<i64: 0>} : (tensor<8xf32>) -> tensor<f32>
  return %3, %4 : tensor<24xf32>, tensor<f32>
}

func.func @early(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<24xf32>, tensor<f32>) {
  %0 = nn.exp %x : tensor<8xf32>
  %1 = nn.concat %0, %y {axis = 0} : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>
  %4 = nn.reduce_sum %0 {axes = array<i64: 0>} : (tensor<8xf32>) -> tensor<f32>
  %2 = nn.relu %1 : tensor<16xf32>
  %3 = nn.concat %y, %2 {axis = 0} : (tensor<8xf32>, tensor<16xf32>) -> tensor<24xf32>
  return %3, %4 : tensor<24xf32>, tensor<f32>
}
// ----- output
// module {
//   func.func @late(%arg0: tensor<8xf32>, %arg1: tensor<8xf32>) -> (tensor<24xf32>, tensor<f32>) attributes {optc.arena = 32 : i64, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.exp %arg0 {mem.kernel = "pointwise", mem.place = [["arena", 0, 32]]} : tensor<8xf32>
//     %1 = nn.concat %0, %arg1 {axis = 0 : i64, mem.kernel = "copy", mem.place = [["out", 0, 64, 32, 64, 64]]} : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>
//     %2 = nn.relu %1 {mem.kernel = "pointwise", mem.place = [["out", 0, 64, 32, 64, 64]], mem.tie = array<i64: 0>} : tensor<16xf32>
//     %3 = nn.concat %arg1, %2 {axis = 0 : i64, mem.kernel = "copy", mem.parts = array<i64: 1>, mem.place = [["out", 0, 96]]} : (tensor<8xf32>, tensor<16xf32>) -> tensor<24xf32>
//     %4 = nn.reduce_sum %0 {axes = array<i64: 0>, mem.kernel = "reduce", mem.place = [["out", 1, 4]]} : (tensor<8xf32>) -> tensor<f32>
//     return %3, %4 : tensor<24xf32>, tensor<f32>
//   }
//   func.func @early(%arg0: tensor<8xf32>, %arg1: tensor<8xf32>) -> (tensor<24xf32>, tensor<f32>) attributes {optc.arena = 0 : i64, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.exp %arg0 {mem.kernel = "pointwise", mem.place = [["out", 0, 32, 32, 32, 32]]} : tensor<8xf32>
//     %1 = nn.concat %0, %arg1 {axis = 0 : i64, mem.kernel = "copy", mem.parts = array<i64: 0>, mem.place = [["out", 0, 64, 32, 64, 64]]} : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>
//     %2 = nn.reduce_sum %0 {axes = array<i64: 0>, mem.kernel = "reduce", mem.place = [["out", 1, 4]]} : (tensor<8xf32>) -> tensor<f32>
//     %3 = nn.relu %1 {mem.kernel = "pointwise", mem.place = [["out", 0, 64, 32, 64, 64]], mem.tie = array<i64: 0>} : tensor<16xf32>
//     %4 = nn.concat %arg1, %3 {axis = 0 : i64, mem.kernel = "copy", mem.parts = array<i64: 1>, mem.place = [["out", 0, 96]]} : (tensor<8xf32>, tensor<16xf32>) -> tensor<24xf32>
//     return %4, %2 : tensor<24xf32>, tensor<f32>
//   }
// }
