// RUN: optc --passes=inplace,plan
// Each `nn.insert_slice` overwrites its target, so n updates of one value take one buffer and not n.

func.func @f(%x: tensor<8xf32>, %a: tensor<2xf32>) -> tensor<8xf32> {
  %0 = nn.exp %x : tensor<8xf32>
  %1 = nn.insert_slice %a, %0 {starts = array<i64: 0>} : (tensor<2xf32>, tensor<8xf32>) -> tensor<8xf32>
  %2 = nn.insert_slice %a, %1 {starts = array<i64: 2>} : (tensor<2xf32>, tensor<8xf32>) -> tensor<8xf32>
  %3 = nn.insert_slice %a, %2 {starts = array<i64: 4>} : (tensor<2xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %3 : tensor<8xf32>
}
// ----- output
// module {
//   func.func @f(%arg0: tensor<8xf32>, %arg1: tensor<2xf32>) -> tensor<8xf32> attributes {optc.arena = 0 : i64, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.exp %arg0 {mem.kernel = "pointwise", mem.place = [["out", 0, 32]]} : tensor<8xf32>
//     %1 = nn.insert_slice %arg1, %0 {mem.kernel = "insert_slice", mem.place = [["out", 0, 32]], mem.tie = array<i64: 1>, starts = array<i64: 0>} : (tensor<2xf32>, tensor<8xf32>) -> tensor<8xf32>
//     %2 = nn.insert_slice %arg1, %1 {mem.kernel = "insert_slice", mem.place = [["out", 0, 32]], mem.tie = array<i64: 1>, starts = array<i64: 2>} : (tensor<2xf32>, tensor<8xf32>) -> tensor<8xf32>
//     %3 = nn.insert_slice %arg1, %2 {mem.kernel = "insert_slice", mem.place = [["out", 0, 32]], mem.tie = array<i64: 1>, starts = array<i64: 4>} : (tensor<2xf32>, tensor<8xf32>) -> tensor<8xf32>
//     return %3 : tensor<8xf32>
//   }
// }
