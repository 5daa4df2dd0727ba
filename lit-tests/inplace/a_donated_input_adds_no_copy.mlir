// RUN: optc --passes=inplace,plan
// What is made in the donated input would be copied to the output in the end; made in the output, it is not,
// and takes no byte more.

func.func @main(%x: tensor<1024xf32> {optc.donated}, %y: tensor<1024xf32>) -> tensor<1024xf32> {
  %0 = nn.exp %x : tensor<1024xf32>
  %1 = nn.softmax %0 {axis = 0} : tensor<1024xf32>
  %2 = nn.add %1, %y : tensor<1024xf32>
  %3 = nn.softmax %2 {axis = 0} : tensor<1024xf32>
  return %3 : tensor<1024xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1024xf32> {optc.donated}, %arg1: tensor<1024xf32>) -> tensor<1024xf32> attributes {optc.arena = 0 : i64, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.exp %arg0 {mem.kernel = "pointwise", mem.place = [["out", 0, 4096]]} : tensor<1024xf32>
//     %1 = nn.softmax %0 {axis = 0 : i64, mem.kernel = "softmax", mem.place = [["out", 0, 4096]], mem.tie = array<i64: 0>} : tensor<1024xf32>
//     %2 = nn.add %1, %arg1 {mem.kernel = "pointwise", mem.place = [["out", 0, 4096]], mem.tie = array<i64: 0>} : tensor<1024xf32>
//     %3 = nn.softmax %2 {axis = 0 : i64, mem.kernel = "softmax", mem.place = [["out", 0, 4096]], mem.tie = array<i64: 0>} : tensor<1024xf32>
//     return %3 : tensor<1024xf32>
//   }
// }
