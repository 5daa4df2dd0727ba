// RUN: optc --passes=canonicalize
// Every integer law applies once here, so a law that stops matching shows up as a left-over operation.

func.func @main(%x: i32, %y: i32, %c: i1) -> (i32, i32, i32, i32, i32, i32, i32, i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %three = arith.constant 3 : i32
  %ones = arith.constant -1 : i32
  %0 = arith.addi %zero, %x : i32
  %1 = arith.subi %0, %zero : i32
  %2 = arith.muli %1, %one : i32
  %3 = arith.divsi %2, %one : i32
  %4 = arith.divui %3, %one : i32
  %5 = arith.andi %4, %ones : i32
  %6 = arith.andi %5, %5 : i32
  %7 = arith.ori %6, %zero : i32
  %8 = arith.ori %7, %7 : i32
  %9 = arith.xori %8, %zero : i32
  %10 = arith.shli %9, %zero : i32
  %11 = arith.shrsi %10, %zero : i32
  %12 = arith.shrui %11, %zero : i32
  %13 = arith.maxsi %12, %12 : i32
  %14 = arith.maxui %13, %13 : i32
  %15 = arith.minsi %14, %14 : i32
  %16 = arith.minui %15, %15 : i32
  %17 = arith.select %c, %16, %16 : i32
  %is_x = arith.addi %17, %zero : i32
  %18 = arith.addi %x, %y : i32
  %19 = arith.subi %18, %y : i32
  %20 = arith.addi %19, %y : i32
  %21 = arith.subi %20, %y : i32
  %22 = arith.xori %21, %y : i32
  %is_x_too = arith.xori %22, %y : i32
  %23 = arith.subi %x, %x : i32
  %24 = arith.muli %y, %zero : i32
  %25 = arith.remsi %y, %one : i32
  %26 = arith.remui %y, %one : i32
  %27 = arith.andi %y, %zero : i32
  %28 = arith.xori %y, %y : i32
  %29 = arith.addi %23, %24 : i32
  %30 = arith.addi %25, %26 : i32
  %31 = arith.addi %27, %28 : i32
  %32 = arith.addi %29, %30 : i32
  %is_zero = arith.addi %31, %32 : i32
  %33 = arith.addi %x, %three : i32
  %plus_six = arith.addi %33, %three : i32
  %34 = arith.muli %x, %three : i32
  %times_nine = arith.muli %three, %34 : i32
  %is_ones = arith.ori %x, %ones : i32
  %35 = arith.cmpi sle, %x, %x : i32
  %chosen = arith.select %35, %x, %y : i32
  %36 = arith.cmpi ult, %x, %x : i32
  %not_chosen = arith.select %36, %x, %y : i32
  return %is_x, %is_x_too, %is_zero, %plus_six, %times_nine, %is_ones, %chosen, %not_chosen : i32, i32, i32, i32, i32, i32, i32, i32
}

func.func @added_again(%x: i32, %y: i32) -> i32 {
  %0 = arith.subi %y, %x : i32
  %1 = arith.addi %0, %x : i32
  return %1 : i32
}
// ----- output
// module {
//   func.func @main(%arg0: i32, %arg1: i32, %arg2: i1) -> (i32, i32, i32, i32, i32, i32, i32, i32) {
//     %0 = arith.constant 0 : i32
//     %1 = arith.constant 6 : i32
//     %2 = arith.addi %arg0, %1 : i32
//     %3 = arith.constant 9 : i32
//     %4 = arith.muli %arg0, %3 : i32
//     %5 = arith.constant -1 : i32
//     return %arg0, %arg0, %0, %2, %4, %5, %arg0, %arg1 : i32, i32, i32, i32, i32, i32, i32, i32
//   }
//   func.func @added_again(%arg0: i32, %arg1: i32) -> i32 {
//     return %arg1 : i32
//   }
// }
