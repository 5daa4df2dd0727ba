// RUN: optc --passes=func(schedule)
// Swapping the two calls would lower the peak, but a call may have side effects, so their order stays.

func.func private @a(tensor<1x4x4x8xf32>) -> tensor<1x1x1x8xf32>
func.func private @b(tensor<1x4x4x8xf32>) -> tensor<1x1x1x8xf32>
func.func @main(%x: tensor<1x4x4x8xf32>) -> tensor<1x1x1x8xf32> {
  %0 = nn.exp %x : tensor<1x4x4x8xf32>
  %1 = nn.tanh %0 : tensor<1x4x4x8xf32>
  %2 = func.call @a(%1) : (tensor<1x4x4x8xf32>) -> tensor<1x1x1x8xf32>
  %3 = func.call @b(%0) : (tensor<1x4x4x8xf32>) -> tensor<1x1x1x8xf32>
  %4 = nn.add %2, %3 : tensor<1x1x1x8xf32>
  return %4 : tensor<1x1x1x8xf32>
}
// ----- output
// module {
//   func.func private @a(tensor<1x4x4x8xf32>) -> tensor<1x1x1x8xf32>
//   func.func private @b(tensor<1x4x4x8xf32>) -> tensor<1x1x1x8xf32>
//   func.func @main(%arg0: tensor<1x4x4x8xf32>) -> tensor<1x1x1x8xf32> attributes {optc.stage = "schedule", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.exp %arg0 {mem.kernel = "pointwise"} : tensor<1x4x4x8xf32>
//     %1 = nn.tanh %0 {mem.kernel = "pointwise"} : tensor<1x4x4x8xf32>
//     %2 = call @a(%1) : (tensor<1x4x4x8xf32>) -> tensor<1x1x1x8xf32>
//     %3 = call @b(%0) : (tensor<1x4x4x8xf32>) -> tensor<1x1x1x8xf32>
//     %4 = nn.add %2, %3 {mem.kernel = "pointwise"} : tensor<1x1x1x8xf32>
//     return %4 : tensor<1x1x1x8xf32>
//   }
// }
