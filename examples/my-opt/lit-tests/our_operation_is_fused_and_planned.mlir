// RUN: my-opt --target-cpu=x86-64-v3 --passes=fuse,inplace,plan

func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = my.softsign %x : tensor<8xf32>
  %1 = nn.neg %0 : tensor<8xf32>
  return %1 : tensor<8xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<8xf32>) -> tensor<8xf32> attributes {optc.arena = 0 : i64, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = optc.group(%arg1 = %arg0) {mem.kernel = "pointwise", mem.place = [["out", 0, 32]]} : (tensor<8xf32>) -> tensor<8xf32> {
//       %1 = my.softsign %arg1 : tensor<8xf32>
//       %2 = nn.neg %1 : tensor<8xf32>
//       optc.yield %2 : tensor<8xf32>
//     }
//     return %0 : tensor<8xf32>
//   }
// }
