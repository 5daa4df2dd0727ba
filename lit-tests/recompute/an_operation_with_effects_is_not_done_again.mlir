// RUN: optc --allow-unregistered --passes=recompute,inplace,plan
// An operation that is not registered may have side effects, so running it twice could change the result.

func.func @main(%x: tensor<64xf32>) -> tensor<f32> {
  %0 = "other.next"(%x) : (tensor<64xf32>) -> tensor<64xf32>
  %1 = nn.sqrt %0 : tensor<64xf32>
  %2 = nn.floor %1 : tensor<64xf32>
  %3 = nn.mul %2, %1 : tensor<64xf32>
  %4 = nn.reduce_sum %3 {axes = array<i64: 0>} : (tensor<64xf32>) -> tensor<f32>
  %5 = nn.mul %0, %4 : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %6 = nn.reduce_sum %5 {axes = array<i64: 0>} : (tensor<64xf32>) -> tensor<f32>
  return %6 : tensor<f32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<64xf32>) -> tensor<f32> attributes {optc.arena = 768 : i64, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = "other.next"(%arg0) {mem.place = [["arena", 0, 256]]} : (tensor<64xf32>) -> tensor<64xf32>
//     %1 = nn.sqrt %0 {mem.kernel = "pointwise", mem.place = [["arena", 256, 256]]} : tensor<64xf32>
//     %2 = nn.floor %1 {mem.kernel = "pointwise", mem.place = [["arena", 512, 256]]} : tensor<64xf32>
//     %3 = nn.mul %2, %1 {mem.kernel = "pointwise", mem.place = [["arena", 512, 256]], mem.tie = array<i64: 0>} : tensor<64xf32>
//     %4 = nn.reduce_sum %3 {axes = array<i64: 0>, mem.kernel = "reduce", mem.place = [["arena", 256, 4]]} : (tensor<64xf32>) -> tensor<f32>
//     %5 = nn.mul %0, %4 {mem.kernel = "pointwise", mem.place = [["arena", 0, 256]], mem.tie = array<i64: 0>} : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
//     %6 = nn.reduce_sum %5 {axes = array<i64: 0>, mem.kernel = "reduce", mem.place = [["out", 0, 4]]} : (tensor<64xf32>) -> tensor<f32>
//     return %6 : tensor<f32>
//   }
// }
