// RUN: optc --passes=schedule
// Without a lower peak the order of the text stays, so plans are stable and diffs are small.

func.func @main(%x: tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xf32> {
  %0 = nn.exp %x : tensor<1x8x8x16xf32>
  %1 = nn.abs %x : tensor<1x8x8x16xf32>
  %2 = nn.add %1, %0 : tensor<1x8x8x16xf32>
  return %2 : tensor<1x8x8x16xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xf32> attributes {optc.stage = "schedule", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.exp %arg0 {mem.kernel = "pointwise"} : tensor<1x8x8x16xf32>
//     %1 = nn.abs %arg0 {mem.kernel = "pointwise"} : tensor<1x8x8x16xf32>
//     %2 = nn.add %1, %0 {mem.kernel = "pointwise"} : tensor<1x8x8x16xf32>
//     return %2 : tensor<1x8x8x16xf32>
//   }
// }
