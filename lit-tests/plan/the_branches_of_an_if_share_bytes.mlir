// RUN: optc --passes=plan
// Only one region runs, so their values share bytes, and both make what they yield at the result's place.

func.func @main(%c: i1, %x: tensor<64xf32>) -> tensor<64xf32> {
  %r = scf.if %c -> (tensor<64xf32>) {
    %0 = nn.neg %x : tensor<64xf32>
    %1 = nn.abs %0 : tensor<64xf32>
    scf.yield %1 : tensor<64xf32>
  } else {
    %0 = nn.sqrt %x : tensor<64xf32>
    %1 = nn.floor %0 : tensor<64xf32>
    scf.yield %1 : tensor<64xf32>
  }
  %s = nn.ceil %r : tensor<64xf32>
  return %s : tensor<64xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: i1, %arg1: tensor<64xf32>) -> tensor<64xf32> attributes {optc.arena = 256 : i64, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = scf.if %arg0 -> (tensor<64xf32>) {
//       %2 = nn.neg %arg1 {mem.kernel = "pointwise", mem.place = [["out", 0, 256]]} : tensor<64xf32>
//       %3 = nn.abs %2 {mem.kernel = "pointwise", mem.place = [["arena", 0, 256]]} : tensor<64xf32>
//       scf.yield %3 : tensor<64xf32>
//     } else {
//       %2 = nn.sqrt %arg1 {mem.kernel = "pointwise", mem.place = [["out", 0, 256]]} : tensor<64xf32>
//       %3 = nn.floor %2 {mem.kernel = "pointwise", mem.place = [["arena", 0, 256]]} : tensor<64xf32>
//       scf.yield %3 : tensor<64xf32>
//     } {mem.place = [["arena", 0, 256]]}
//     %1 = nn.ceil %0 {mem.kernel = "pointwise", mem.place = [["out", 0, 256]]} : tensor<64xf32>
//     return %1 : tensor<64xf32>
//   }
// }
