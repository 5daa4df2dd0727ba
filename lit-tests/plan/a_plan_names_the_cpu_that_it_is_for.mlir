// RUN: optc --passes=plan --target-cpu=portable
// Kernels and their scratch depend on the instructions of the CPU, so `optc.target` names them.

func.func @main(%x: tensor<5x40xf32>, %y: tensor<40x30xf32>) -> tensor<5x30xf32> {
  %0 = nn.matmul %x, %y : (tensor<5x40xf32>, tensor<40x30xf32>) -> tensor<5x30xf32>
  return %0 : tensor<5x30xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<5x40xf32>, %arg1: tensor<40x30xf32>) -> tensor<5x30xf32> attributes {optc.arena = 5120 : i64, optc.stage = "plan", optc.target = "portable", optc.threads = 1 : i64} {
//     %0 = nn.matmul %arg0, %arg1 {mem.kernel = "gemm", mem.place = [["out", 0, 600], ["arena", 0, 5120]], mem.scratch = 5120 : i64} : (tensor<5x40xf32>, tensor<40x30xf32>) -> tensor<5x30xf32>
//     return %0 : tensor<5x30xf32>
//   }
// }
