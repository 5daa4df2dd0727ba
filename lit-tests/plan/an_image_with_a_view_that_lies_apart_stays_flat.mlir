// RUN: optc --passes='inplace,plan{pools=arena:pitch=64}' --remarks=plan
// The views of this image have strides of their own, so its rows cannot be spread to the pool's pitch as
// well.

func.func @main(%x: tensor<1x5x7x6xf32>) -> tensor<1x5x7x3xf32> {
  %0 = nn.neg %x : tensor<1x5x7x6xf32>
  %1 = nn.slice %0 {starts = array<i64: 0, 0, 0, 0>, sizes = array<i64: 1, 5, 7, 3>} : (tensor<1x5x7x6xf32>) -> tensor<1x5x7x3xf32>
  %2 = nn.slice %0 {starts = array<i64: 0, 0, 0, 3>, sizes = array<i64: 1, 5, 7, 3>} : (tensor<1x5x7x6xf32>) -> tensor<1x5x7x3xf32>
  %3 = nn.mul %1, %2 : tensor<1x5x7x3xf32>
  return %3 : tensor<1x5x7x3xf32>
}
// ----- output
// remark: the rows of this image do not begin at multiples of 64: `nn.slice` is a view of it with gaps
//  --> an_image_with_a_view_that_lies_apart_stays_flat.mlir:6:8
//   |
// 6 |   %0 = nn.neg %x : tensor<1x5x7x6xf32>
//   |        ^^^^^^
// module {
//   func.func @main(%arg0: tensor<1x5x7x6xf32>) -> tensor<1x5x7x3xf32> attributes {optc.arena = 840 : i64, optc.pools = {arena = {align = 64 : i64, bytes = 840 : i64, pitch = 64 : i64, start = 0 : i64}}, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.neg %arg0 {mem.kernel = "pointwise", mem.place = [["arena", 0, 840]]} : tensor<1x5x7x6xf32>
//     %1 = nn.slice %0 {mem.view, sizes = array<i64: 1, 5, 7, 3>, starts = array<i64: 0, 0, 0, 0>} : (tensor<1x5x7x6xf32>) -> tensor<1x5x7x3xf32>
//     %2 = nn.slice %0 {mem.view, sizes = array<i64: 1, 5, 7, 3>, starts = array<i64: 0, 0, 0, 3>} : (tensor<1x5x7x6xf32>) -> tensor<1x5x7x3xf32>
//     %3 = nn.mul %1, %2 {mem.kernel = "pointwise", mem.place = [["out", 0, 420]]} : tensor<1x5x7x3xf32>
//     return %3 : tensor<1x5x7x3xf32>
//   }
// }
