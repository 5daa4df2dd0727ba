// RUN: optc --passes='plan{pools="vtcm:capacity=512; arena:capacity=100"}'
// Every pool that is too small is reported with its peak step and the largest values there, so the user sees
// what to move.

func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = nn.sqrt %x {mem.pool = ["vtcm"]} : tensor<64xf32>
  %1 = nn.exp %x {mem.pool = ["vtcm"]} : tensor<64xf32>
  %2 = nn.reshape %x {shape = array<i64: 8, 8>} : (tensor<64xf32>) -> tensor<8x8xf32>
  %3 = nn.reduce_sum %2 {axes = array<i64: 1>, keepdims, mem.pool = ["vtcm"]} : (tensor<8x8xf32>) -> tensor<8x1xf32>
  %4 = nn.add %2, %3 : (tensor<8x8xf32>, tensor<8x1xf32>) -> tensor<8x8xf32>
  %5 = nn.reshape %4 {shape = array<i64: 64>} : (tensor<8x8xf32>) -> tensor<64xf32>
  %6 = nn.add %0, %1 : tensor<64xf32>
  %7 = nn.add %5, %6 : tensor<64xf32>
  return %7 : tensor<64xf32>
}
// ----- output
// error: the pool `arena` holds 100 bytes, but 512 are needed
//   --> a_pool_that_is_too_small_is_told_with_its_peak.mlir:12:8
//    |
// 12 |   %6 = nn.add %0, %1 : tensor<64xf32>
//    |        ^^^^^^
//    |
//    = note: a_pool_that_is_too_small_is_told_with_its_peak.mlir:12:8: 512 bytes are live at the peak, `nn.add`:
//    = note: a_pool_that_is_too_small_is_told_with_its_peak.mlir:10:8: 256 bytes: `nn.add`
//    = note: a_pool_that_is_too_small_is_told_with_its_peak.mlir:12:8: 256 bytes: `nn.add`
// error: the pool `vtcm` holds 512 bytes, but 544 are needed
//  --> a_pool_that_is_too_small_is_told_with_its_peak.mlir:9:8
//   |
// 9 |   %3 = nn.reduce_sum %2 {axes = array<i64: 1>, keepdims, mem.pool = ["vtcm"]} : (tensor<8x8xf32>) -> tensor<8x1xf32>
//   |        ^^^^^^^^^^^^^
//   |
//   = note: a_pool_that_is_too_small_is_told_with_its_peak.mlir:9:8: 544 bytes are live at the peak, `nn.reduce_sum`:
//   = note: a_pool_that_is_too_small_is_told_with_its_peak.mlir:6:8: 256 bytes: `nn.sqrt`
//   = note: a_pool_that_is_too_small_is_told_with_its_peak.mlir:7:8: 256 bytes: `nn.exp`
//   = note: a_pool_that_is_too_small_is_told_with_its_peak.mlir:9:8: 32 bytes: `nn.reduce_sum`
