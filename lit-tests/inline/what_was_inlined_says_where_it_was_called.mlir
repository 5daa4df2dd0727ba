// RUN: optc --passes=inline,symbol-dce --print-locations
// The location of an inlined operation names the callee's line and the call. Without the call a diagnostic
// could not tell two copies apart.

func.func private @f(%x: tensor<4xf32> loc("x")) -> tensor<4xf32> {
  %0 = nn.exp %x : tensor<4xf32> loc("inner")
  return %0 : tensor<4xf32> loc("end")
} loc("f")

func.func @main(%x: tensor<4xf32> loc("x")) -> tensor<4xf32> {
  %0 = call @f(%x) : (tensor<4xf32>) -> tensor<4xf32> loc("outer")
  return %0 : tensor<4xf32> loc("end")
} loc("main")
// ----- output
// #loc2 = loc("x")
// module {
//   func.func @main(%arg0: tensor<4xf32> loc("x")) -> tensor<4xf32> {
//     %0 = nn.exp %arg0 : tensor<4xf32> loc(#loc6)
//     return %0 : tensor<4xf32> loc(#loc5)
//   } loc(#loc1)
// } loc(#loc)
// #loc = loc(unknown)
// #loc1 = loc("main")
// #loc3 = loc("inner")
// #loc4 = loc("outer")
// #loc5 = loc("end")
// #loc6 = loc(callsite(#loc3 at #loc4))
