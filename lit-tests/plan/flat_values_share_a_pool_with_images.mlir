// RUN: optc --passes='plan{pools="vtcm:pitch=64"}' --remarks=plan
// A pool with a row pitch also holds values that are no images. They stay dense and reuse the same bytes.

func.func @main(%x: tensor<1x5x7x3xf32>, %y: tensor<35xf32>) -> tensor<f32> {
  %0 = nn.sqrt %x {mem.pool = ["vtcm"]} : tensor<1x5x7x3xf32>
  %1 = nn.neg %0 {mem.pool = ["vtcm"]} : tensor<1x5x7x3xf32>
  %2 = nn.reduce_sum %1 {axes = array<i64: 0, 1, 2, 3>} : (tensor<1x5x7x3xf32>) -> tensor<f32>
  %3 = nn.mul %y, %2 {mem.pool = ["vtcm"]} : (tensor<35xf32>, tensor<f32>) -> tensor<35xf32>
  %4 = nn.reduce_sum %3 {axes = array<i64: 0>} : (tensor<35xf32>) -> tensor<f32>
  return %4 : tensor<f32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x5x7x3xf32>, %arg1: tensor<35xf32>) -> tensor<f32> attributes {optc.arena = 1280 : i64, optc.pools = {arena = {align = 64 : i64, bytes = 0 : i64, start = 0 : i64}, vtcm = {align = 64 : i64, bytes = 1280 : i64, pitch = 64 : i64, start = 0 : i64}}, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.sqrt %arg0 {mem.kernel = "pointwise", mem.pitch = array<i64: 84, 128>, mem.place = [["vtcm", 0, 420, 0, 84, 128]], mem.pool = ["vtcm"]} : tensor<1x5x7x3xf32>
//     %1 = nn.neg %0 {mem.kernel = "pointwise", mem.pitch = array<i64: 84, 128>, mem.place = [["vtcm", 640, 420, 0, 84, 128]], mem.pool = ["vtcm"]} : tensor<1x5x7x3xf32>
//     %2 = nn.reduce_sum %1 {axes = array<i64: 0, 1, 2, 3>, mem.kernel = "reduce", mem.place = [["out", 0, 4]]} : (tensor<1x5x7x3xf32>) -> tensor<f32>
//     %3 = nn.mul %arg1, %2 {mem.kernel = "pointwise", mem.place = [["vtcm", 0, 140]], mem.pool = ["vtcm"]} : (tensor<35xf32>, tensor<f32>) -> tensor<35xf32>
//     %4 = nn.reduce_sum %3 {axes = array<i64: 0>, mem.kernel = "reduce", mem.place = [["out", 0, 4]]} : (tensor<35xf32>) -> tensor<f32>
//     return %4 : tensor<f32>
//   }
// }
