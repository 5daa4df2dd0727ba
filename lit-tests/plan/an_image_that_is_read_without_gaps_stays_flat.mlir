// RUN: optc --passes='plan{pools=arena:pitch=64}' --remarks=plan
// A row pitch is given up for a value that is reshaped across its rows, because the reshape is a view of
// dense bytes. The remark says so.

func.func @main(%x: tensor<1x5x7x3xf32>) -> tensor<35x3xf32> {
  %0 = nn.sqrt %x : tensor<1x5x7x3xf32>
  %1 = nn.reshape %0 {shape = array<i64: 35, 3>} : (tensor<1x5x7x3xf32>) -> tensor<35x3xf32>
  %2 = nn.softmax %1 {axis = 1 : i64} : tensor<35x3xf32>
  return %2 : tensor<35x3xf32>
}
// ----- output
// remark: the rows of this image do not begin at multiples of 64: the result of `nn.reshape` is no rows of it
//  --> an_image_that_is_read_without_gaps_stays_flat.mlir:6:8
//   |
// 6 |   %0 = nn.sqrt %x : tensor<1x5x7x3xf32>
//   |        ^^^^^^^
// module {
//   func.func @main(%arg0: tensor<1x5x7x3xf32>) -> tensor<35x3xf32> attributes {optc.arena = 420 : i64, optc.pools = {arena = {align = 64 : i64, bytes = 420 : i64, pitch = 64 : i64, start = 0 : i64}}, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.sqrt %arg0 {mem.kernel = "pointwise", mem.place = [["arena", 0, 420]]} : tensor<1x5x7x3xf32>
//     %1 = nn.reshape %0 {mem.kernel = "copy", shape = array<i64: 35, 3>} : (tensor<1x5x7x3xf32>) -> tensor<35x3xf32>
//     %2 = nn.softmax %1 {axis = 1 : i64, mem.kernel = "softmax", mem.place = [["out", 0, 420]]} : tensor<35x3xf32>
//     return %2 : tensor<35x3xf32>
//   }
// }
