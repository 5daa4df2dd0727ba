// RUN: optc --passes=inplace
// Only one of the branches runs, so each may overwrite the value that both read last.

func.func @main(%c: i1, %x: tensor<64xf32>) -> tensor<64xf32> {
  %y = nn.neg %x : tensor<64xf32>
  %r = scf.if %c -> (tensor<64xf32>) {
    %0 = nn.abs %y : tensor<64xf32>
    scf.yield %0 : tensor<64xf32>
  } else {
    %0 = nn.floor %y : tensor<64xf32>
    scf.yield %0 : tensor<64xf32>
  }
  return %r : tensor<64xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: i1, %arg1: tensor<64xf32>) -> tensor<64xf32> attributes {optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.neg %arg1 {mem.kernel = "pointwise"} : tensor<64xf32>
//     %1 = scf.if %arg0 -> (tensor<64xf32>) {
//       %2 = nn.abs %0 {mem.kernel = "pointwise", mem.tie = array<i64: 0>} : tensor<64xf32>
//       scf.yield %2 : tensor<64xf32>
//     } else {
//       %2 = nn.floor %0 {mem.kernel = "pointwise", mem.tie = array<i64: 0>} : tensor<64xf32>
//       scf.yield %2 : tensor<64xf32>
//     }
//     return %1 : tensor<64xf32>
//   }
// }
