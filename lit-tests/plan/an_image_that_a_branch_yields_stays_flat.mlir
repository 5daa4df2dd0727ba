// RUN: optc --passes='inplace,plan{pools=arena:pitch=64}' --remarks=plan
// What a branch hands on is copied as a whole, so its rows cannot be spread to the pool's pitch.

func.func @main(%x: tensor<1x5x7x3xf32>, %c: i1) -> tensor<1x5x7x3xf32> {
  %0 = scf.if %c -> (tensor<1x5x7x3xf32>) {
    %1 = nn.sqrt %x : tensor<1x5x7x3xf32>
    scf.yield %1 : tensor<1x5x7x3xf32>
  } else {
    %2 = nn.exp %x : tensor<1x5x7x3xf32>
    scf.yield %2 : tensor<1x5x7x3xf32>
  }
  %3 = nn.neg %0 : tensor<1x5x7x3xf32>
  return %3 : tensor<1x5x7x3xf32>
}
// ----- output
// remark: the rows of this image do not begin at multiples of 64: `scf.yield` hands it on
//  --> an_image_that_a_branch_yields_stays_flat.mlir:6:10
//   |
// 6 |     %1 = nn.sqrt %x : tensor<1x5x7x3xf32>
//   |          ^^^^^^^
// remark: the rows of this image do not begin at multiples of 64: `scf.yield` hands it on
//  --> an_image_that_a_branch_yields_stays_flat.mlir:9:10
//   |
// 9 |     %2 = nn.exp %x : tensor<1x5x7x3xf32>
//   |          ^^^^^^
// module {
//   func.func @main(%arg0: tensor<1x5x7x3xf32>, %arg1: i1) -> tensor<1x5x7x3xf32> attributes {optc.arena = 0 : i64, optc.pools = {arena = {align = 64 : i64, bytes = 0 : i64, pitch = 64 : i64, start = 0 : i64}}, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = scf.if %arg1 -> (tensor<1x5x7x3xf32>) {
//       %2 = nn.sqrt %arg0 {mem.kernel = "pointwise", mem.place = [["out", 0, 420]]} : tensor<1x5x7x3xf32>
//       scf.yield %2 : tensor<1x5x7x3xf32>
//     } else {
//       %2 = nn.exp %arg0 {mem.kernel = "pointwise", mem.place = [["out", 0, 420]]} : tensor<1x5x7x3xf32>
//       scf.yield %2 : tensor<1x5x7x3xf32>
//     } {mem.place = [["out", 0, 420]]}
//     %1 = nn.neg %0 {mem.kernel = "pointwise", mem.place = [["out", 0, 420]], mem.tie = array<i64: 0>} : tensor<1x5x7x3xf32>
//     return %1 : tensor<1x5x7x3xf32>
//   }
// }
