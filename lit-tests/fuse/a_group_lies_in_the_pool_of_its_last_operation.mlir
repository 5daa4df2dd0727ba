// RUN: optc --passes=simplify,layout,fuse
// The values inside a group are not stored, so only the pool of its last result counts. The pool of an inner
// value must not stick to the group.

func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = nn.neg %x {mem.pool = ["bank"]} : tensor<64xf32>
  %1 = nn.exp %0 {mem.pool = ["vtcm"]} : tensor<64xf32>
  return %1 : tensor<64xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<64xf32>) -> tensor<64xf32> attributes {optc.stage = "fuse"} {
//     %0 = optc.group(%arg1 = %arg0) {mem.pool = ["vtcm"]} : (tensor<64xf32>) -> tensor<64xf32> {
//       %1 = nn.neg %arg1 : tensor<64xf32>
//       %2 = nn.exp %1 : tensor<64xf32>
//       optc.yield %2 : tensor<64xf32>
//     }
//     return %0 : tensor<64xf32>
//   }
// }
