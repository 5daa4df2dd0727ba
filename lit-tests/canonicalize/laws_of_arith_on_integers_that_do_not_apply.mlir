// RUN: optc --passes=canonicalize
// Each operation resembles one that a law simplifies, but has its operands in the wrong position or is of
// another kind. A matcher that is too loose would change results.

func.func @main(%x: i32, %y: i32, %c: i1) -> (i32, i32, i32, i32, i32, i32, i1) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %0 = arith.subi %zero, %x : i32
  %1 = arith.addi %x, %one : i32
  %2 = arith.divsi %one, %x : i32
  %3 = arith.subi %x, %y : i32
  %4 = arith.addi %3, %x : i32
  %5 = arith.shli %zero, %x : i32
  %6 = arith.select %c, %x, %y : i32
  %7 = arith.cmpi sle, %x, %y : i32
  return %0, %1, %2, %4, %5, %6, %7 : i32, i32, i32, i32, i32, i32, i1
}
// ----- output
// module {
//   func.func @main(%arg0: i32, %arg1: i32, %arg2: i1) -> (i32, i32, i32, i32, i32, i32, i1) {
//     %0 = arith.constant 0 : i32
//     %1 = arith.constant 1 : i32
//     %2 = arith.subi %0, %arg0 : i32
//     %3 = arith.addi %arg0, %1 : i32
//     %4 = arith.divsi %1, %arg0 : i32
//     %5 = arith.subi %arg0, %arg1 : i32
//     %6 = arith.addi %5, %arg0 : i32
//     %7 = arith.shli %0, %arg0 : i32
//     %8 = arith.select %arg2, %arg0, %arg1 : i32
//     %9 = arith.cmpi sle, %arg0, %arg1 : i32
//     return %2, %3, %4, %6, %7, %8, %9 : i32, i32, i32, i32, i32, i32, i1
//   }
// }
