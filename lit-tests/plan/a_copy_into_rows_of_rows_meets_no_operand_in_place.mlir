// RUN: optc --passes=inplace,plan
// Edges around an image: %2 lies in rows of %5, and %x is copied to rows within each of its two images. These
// are rows of rows, which meet neither %0 nor %1.

func.func @main(%x: tensor<2x4x5xf32>) -> tensor<2x6x7xf32> {
  %0 = nn.slice %x {sizes = array<i64: 2, 1, 5>, starts = array<i64: 0, 0, 0>} : (tensor<2x4x5xf32>) -> tensor<2x1x5xf32>
  %1 = nn.slice %x {sizes = array<i64: 2, 1, 5>, starts = array<i64: 0, 3, 0>} : (tensor<2x4x5xf32>) -> tensor<2x1x5xf32>
  %2 = nn.concat %0, %x, %1 {axis = 1 : i64} : (tensor<2x1x5xf32>, tensor<2x4x5xf32>, tensor<2x1x5xf32>) -> tensor<2x6x5xf32>
  %3 = nn.slice %2 {sizes = array<i64: 2, 6, 1>, starts = array<i64: 0, 0, 0>} : (tensor<2x6x5xf32>) -> tensor<2x6x1xf32>
  %4 = nn.slice %2 {sizes = array<i64: 2, 6, 1>, starts = array<i64: 0, 0, 4>} : (tensor<2x6x5xf32>) -> tensor<2x6x1xf32>
  %5 = nn.concat %3, %2, %4 {axis = 2 : i64} : (tensor<2x6x1xf32>, tensor<2x6x5xf32>, tensor<2x6x1xf32>) -> tensor<2x6x7xf32>
  return %5 : tensor<2x6x7xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<2x4x5xf32>) -> tensor<2x6x7xf32> attributes {optc.arena = 0 : i64, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.slice %arg0 {mem.kernel = "copy", mem.pitch = array<i64: 20, 168>, mem.place = [["out", 0, 40, 4, 20, 168]], sizes = array<i64: 2, 1, 5>, starts = array<i64: 0, 0, 0>} : (tensor<2x4x5xf32>) -> tensor<2x1x5xf32>
//     %1 = nn.slice %arg0 {mem.kernel = "copy", mem.pitch = array<i64: 20, 168>, mem.place = [["out", 0, 40, 144, 20, 168]], sizes = array<i64: 2, 1, 5>, starts = array<i64: 0, 3, 0>} : (tensor<2x4x5xf32>) -> tensor<2x1x5xf32>
//     %2 = nn.concat %0, %arg0, %1 {axis = 1 : i64, mem.kernel = "copy", mem.parts = array<i64: 0, 2>, mem.pitch = array<i64: 20, 28>, mem.place = [["out", 0, 240, 4, 20, 28]]} : (tensor<2x1x5xf32>, tensor<2x4x5xf32>, tensor<2x1x5xf32>) -> tensor<2x6x5xf32>
//     %3 = nn.slice %2 {mem.kernel = "copy", mem.pitch = array<i64: 4, 28>, mem.place = [["out", 0, 48, 0, 4, 28]], sizes = array<i64: 2, 6, 1>, starts = array<i64: 0, 0, 0>} : (tensor<2x6x5xf32>) -> tensor<2x6x1xf32>
//     %4 = nn.slice %2 {mem.kernel = "copy", mem.pitch = array<i64: 4, 28>, mem.place = [["out", 0, 48, 24, 4, 28]], sizes = array<i64: 2, 6, 1>, starts = array<i64: 0, 0, 4>} : (tensor<2x6x5xf32>) -> tensor<2x6x1xf32>
//     %5 = nn.concat %3, %2, %4 {axis = 2 : i64, mem.parts = array<i64: 0, 1, 2>, mem.place = [["out", 0, 336]]} : (tensor<2x6x1xf32>, tensor<2x6x5xf32>, tensor<2x6x1xf32>) -> tensor<2x6x7xf32>
//     return %5 : tensor<2x6x7xf32>
//   }
// }
