// RUN: optc --passes=plan
// The buffer of a donated input is free after its last reader: the square root lies there, the negation,
// which is made while it is read, does not.

func.func @main(%arg0: tensor<64xf32> {optc.donated}) -> tensor<f32> {
  %0 = nn.neg %arg0 : tensor<64xf32>
  %1 = nn.slice %0 {starts = array<i64: 8>, sizes = array<i64: 32>} : (tensor<64xf32>) -> tensor<32xf32>
  %2 = nn.sqrt %1 : tensor<32xf32>
  %3 = nn.mul %2, %1 : tensor<32xf32>
  %4 = nn.reduce_sum %3 {axes = array<i64: 0>} : (tensor<32xf32>) -> tensor<f32>
  return %4 : tensor<f32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<64xf32> {optc.donated}) -> tensor<f32> attributes {optc.arena = 384 : i64, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.neg %arg0 {mem.kernel = "pointwise", mem.place = [["arena", 0, 256]]} : tensor<64xf32>
//     %1 = nn.slice %0 {mem.kernel = "copy", sizes = array<i64: 32>, starts = array<i64: 8>} : (tensor<64xf32>) -> tensor<32xf32>
//     %2 = nn.sqrt %1 {mem.kernel = "pointwise", mem.place = [["in", 0, 128]]} : tensor<32xf32>
//     %3 = nn.mul %2, %1 {mem.kernel = "pointwise", mem.place = [["arena", 256, 128]]} : tensor<32xf32>
//     %4 = nn.reduce_sum %3 {axes = array<i64: 0>, mem.kernel = "reduce", mem.place = [["out", 0, 4]]} : (tensor<32xf32>) -> tensor<f32>
//     return %4 : tensor<f32>
//   }
// }
