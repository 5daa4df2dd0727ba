// RUN: optc --passes=canonicalize
// The float laws that hold to the bit, for every value, negative zero and NaN included.

func.func @main(%x: f32) -> (f32, f32) {
  %zero = arith.constant 0.0 : f32
  %minus_zero = arith.constant -0.0 : f32
  %one = arith.constant 1.0 : f32
  %0 = arith.addf %x, %minus_zero : f32
  %1 = arith.subf %0, %zero : f32
  %2 = arith.mulf %one, %1 : f32
  %3 = arith.divf %2, %one : f32
  %4 = arith.negf %3 : f32
  %5 = arith.negf %4 : f32
  %6 = arith.maximumf %5, %5 : f32
  %7 = arith.minimumf %6, %6 : f32
  %8 = arith.addf %one, %one : f32
  %9 = arith.mulf %x, %8 : f32
  return %7, %9 : f32, f32
}
// ----- output
// module {
//   func.func @main(%arg0: f32) -> (f32, f32) {
//     %0 = arith.constant 2.000000e+00 : f32
//     %1 = arith.mulf %arg0, %0 : f32
//     return %arg0, %1 : f32, f32
//   }
// }
