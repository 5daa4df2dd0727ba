// RUN: optc --passes='inplace,plan{pools=image}' --remarks=inplace
// A concatenation lies in one pool, so an operand that asks for another one is copied into it.

func.func @main(%x: tensor<1x64xf32>) -> tensor<2x64xf32> {
  %0 = nn.sqrt %x {mem.pool = ["image"]} : tensor<1x64xf32>
  %1 = nn.exp %x : tensor<1x64xf32>
  %2 = nn.concat %0, %1 {axis = 0 : i64} : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
  return %2 : tensor<2x64xf32>
}
// ----- output
// remark: operand 0 is copied to its place in the result: it must be in another pool
//  --> a_part_of_another_pool_is_copied.mlir:7:8
//   |
// 7 |   %2 = nn.concat %0, %1 {axis = 0 : i64} : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
//   |        ^^^^^^^^^
// remark: result 0, which has its place in a concatenation, does not overwrite operand 0: it is an argument
//  --> a_part_of_another_pool_is_copied.mlir:6:8
//   |
// 6 |   %1 = nn.exp %x : tensor<1x64xf32>
//   |        ^^^^^^
// remark: result 0 does not overwrite operand 0: it is an input that the caller keeps
//  --> a_part_of_another_pool_is_copied.mlir:5:8
//   |
// 5 |   %0 = nn.sqrt %x {mem.pool = ["image"]} : tensor<1x64xf32>
//   |        ^^^^^^^
// module {
//   func.func @main(%arg0: tensor<1x64xf32>) -> tensor<2x64xf32> attributes {optc.arena = 256 : i64, optc.pools = {arena = {align = 64 : i64, bytes = 0 : i64, start = 0 : i64}, image = {align = 64 : i64, bytes = 256 : i64, start = 0 : i64}}, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.sqrt %arg0 {mem.kernel = "pointwise", mem.place = [["image", 0, 256]], mem.pool = ["image"]} : tensor<1x64xf32>
//     %1 = nn.exp %arg0 {mem.kernel = "pointwise", mem.place = [["out", 0, 256, 256, 256, 256]]} : tensor<1x64xf32>
//     %2 = nn.concat %0, %1 {axis = 0 : i64, mem.kernel = "copy", mem.parts = array<i64: 1>, mem.place = [["out", 0, 512]]} : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
//     return %2 : tensor<2x64xf32>
//   }
// }
