// RUN: optc --passes='inplace,plan{pools=image}' --remarks=inplace
// A result overwrites an operand only within one pool; between pools the bytes would be in the wrong memory.

func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = nn.sqrt %x {mem.pool = ["image"]} : tensor<64xf32>
  %1 = nn.neg %0 {mem.pool = ["image"]} : tensor<64xf32>
  %2 = nn.abs %1 : tensor<64xf32>
  return %2 : tensor<64xf32>
}
// ----- output
// remark: result 0 does not overwrite operand 0: it is an input that the caller keeps
//  --> a_value_of_another_pool_is_kept.mlir:5:8
//   |
// 5 |   %0 = nn.sqrt %x {mem.pool = ["image"]} : tensor<64xf32>
//   |        ^^^^^^^
// remark: result 0 does not overwrite operand 0: its bytes are in another pool
//  --> a_value_of_another_pool_is_kept.mlir:7:8
//   |
// 7 |   %2 = nn.abs %1 : tensor<64xf32>
//   |        ^^^^^^
// module {
//   func.func @main(%arg0: tensor<64xf32>) -> tensor<64xf32> attributes {optc.arena = 256 : i64, optc.pools = {arena = {align = 64 : i64, bytes = 0 : i64, start = 0 : i64}, image = {align = 64 : i64, bytes = 256 : i64, start = 0 : i64}}, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.sqrt %arg0 {mem.kernel = "pointwise", mem.place = [["image", 0, 256]], mem.pool = ["image"]} : tensor<64xf32>
//     %1 = nn.neg %0 {mem.kernel = "pointwise", mem.place = [["image", 0, 256]], mem.pool = ["image"], mem.tie = array<i64: 0>} : tensor<64xf32>
//     %2 = nn.abs %1 {mem.kernel = "pointwise", mem.place = [["out", 0, 256]]} : tensor<64xf32>
//     return %2 : tensor<64xf32>
//   }
// }
