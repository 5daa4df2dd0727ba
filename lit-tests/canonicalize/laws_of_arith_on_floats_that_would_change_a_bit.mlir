// RUN: optc --passes=canonicalize
// These float laws look right but fail for a signed zero, infinity, NaN or rounding, so `canonicalize` must
// not apply them.

func.func @main(%x: f32) -> (f32, f32, f32, f32, f32) {
  %zero = arith.constant 0.0 : f32
  %minus_zero = arith.constant -0.0 : f32
  %three = arith.constant 3.0 : f32
  %0 = arith.addf %x, %zero : f32
  %1 = arith.subf %x, %minus_zero : f32
  %2 = arith.mulf %x, %zero : f32
  %3 = arith.subf %x, %x : f32
  %4 = arith.addf %x, %three : f32
  %5 = arith.addf %4, %three : f32
  return %0, %1, %2, %3, %5 : f32, f32, f32, f32, f32
}
// ----- output
// module {
//   func.func @main(%arg0: f32) -> (f32, f32, f32, f32, f32) {
//     %0 = arith.constant 0.000000e+00 : f32
//     %1 = arith.constant -0.000000e+00 : f32
//     %2 = arith.constant 3.000000e+00 : f32
//     %3 = arith.addf %arg0, %0 : f32
//     %4 = arith.subf %arg0, %1 : f32
//     %5 = arith.mulf %arg0, %0 : f32
//     %6 = arith.subf %arg0, %arg0 : f32
//     %7 = arith.addf %arg0, %2 : f32
//     %8 = arith.addf %7, %2 : f32
//     return %3, %4, %5, %6, %8 : f32, f32, f32, f32, f32
//   }
// }
