// RUN: optc --passes=select,recompute,inplace,plan
// Every value is read at the peak or after it, so computing one again lowers nothing.

func.func @main(%x: tensor<64xf32>) -> tensor<f32> {
  %0 = nn.neg %x : tensor<64xf32>
  %1 = nn.sqrt %0 : tensor<64xf32>
  %2 = nn.mul %1, %0 : tensor<64xf32>
  %3 = nn.reduce_sum %2 {axes = array<i64: 0>} : (tensor<64xf32>) -> tensor<f32>
  return %3 : tensor<f32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<64xf32>) -> tensor<f32> attributes {optc.arena = 512 : i64, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.neg %arg0 {mem.kernel = "pointwise", mem.place = [["arena", 0, 256]]} : tensor<64xf32>
//     %1 = nn.sqrt %0 {mem.kernel = "pointwise", mem.place = [["arena", 256, 256]]} : tensor<64xf32>
//     %2 = nn.mul %1, %0 {mem.kernel = "pointwise", mem.place = [["arena", 256, 256]], mem.tie = array<i64: 0>} : tensor<64xf32>
//     %3 = nn.reduce_sum %2 {axes = array<i64: 0>, mem.kernel = "reduce", mem.place = [["out", 0, 4]]} : (tensor<64xf32>) -> tensor<f32>
//     return %3 : tensor<f32>
//   }
// }
