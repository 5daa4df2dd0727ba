// RUN: optc --passes=canonicalize
// Folding computes in the operation's own type: `i8` wraps around, `f32` rounds to 24 bits, tensors fold per
// element. Folding in a wider type would change results.

func.func @main() -> (i32, i8, i1, index, f32, f64, tensor<2xi32>, i32, i32) {
  %a = arith.constant 100 : i8
  %b = arith.addi %a, %a : i8
  %c = arith.constant 7 : i32
  %d = arith.constant 3 : i32
  %e = arith.divsi %c, %d : i32
  %f = arith.cmpi slt, %c, %d : i32
  %g = arith.constant 5 : index
  %h = arith.muli %g, %g : index
  %i = arith.constant 0.1 : f32
  %j = arith.addf %i, %i : f32
  %k = arith.constant 0.1 : f64
  %l = arith.mulf %k, %k : f64
  %m = arith.constant dense<[1, 2]> : tensor<2xi32>
  %n = arith.addi %m, %m : tensor<2xi32>
  %o = arith.select %f, %c, %d : i32
  %p = arith.constant true
  %q = arith.extui %p : i1 to i32
  return %e, %b, %f, %h, %j, %l, %n, %o, %q : i32, i8, i1, index, f32, f64, tensor<2xi32>, i32, i32
}
// ----- output
// module {
//   func.func @main() -> (i32, i8, i1, index, f32, f64, tensor<2xi32>, i32, i32) {
//     %0 = arith.constant -56 : i8
//     %1 = arith.constant 2 : i32
//     %2 = arith.constant false
//     %3 = arith.constant 25 : index
//     %4 = arith.constant 2.000000e-01 : f32
//     %5 = arith.constant 0.010000000000000002 : f64
//     %6 = arith.constant dense<[2, 4]> : tensor<2xi32>
//     %7 = arith.constant 3 : i32
//     %8 = arith.constant 1 : i32
//     return %1, %0, %2, %3, %4, %5, %6, %7, %8 : i32, i8, i1, index, f32, f64, tensor<2xi32>, i32, i32
//   }
// }
