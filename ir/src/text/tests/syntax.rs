//! Round trips of operations whose rows have a syntax, and errors in others.

use super::*;

/// Parses the lines of a function of many arguments, and prints them in pretty form.
#[track_caller]
fn check_lines(lines: &str) {
    let head = "module {\n  func.func @f(%arg0: i1, %arg1: i32, %arg2: f32, %arg3: f64, %arg4: index, %arg5: vector<4xi1>, %arg6: vector<4xi32>) {\n";
    check_same(&format!("{head}{lines}    return\n  }}\n}}\n"));
}

#[test]
fn arithmetic_is_written_as_in_mlir() {
    check_lines(
        "    %0 = arith.addi %arg1, %arg1 overflow<nsw, nuw> {tag} : i32
    %1 = arith.subi %arg4, %arg4 : index
    %2 = arith.addf %arg2, %arg2 fastmath<nnan,ninf> : f32
    %3 = arith.negf %arg2 fastmath<fast> : f32
    %4 = arith.cmpi ult, %arg6, %arg6 : vector<4xi32>
    %5 = arith.cmpf true, %arg2, %arg2 : f32
    %6 = arith.select %arg0, %arg6, %arg6 : vector<4xi32>
    %7 = arith.select %arg5, %arg6, %arg6 : vector<4xi1>, vector<4xi32>
    %8 = arith.truncf %arg3 upward fastmath<contract> {tag} : f64 to f32
    %9 = arith.trunci %arg1 : i32 to i8
    %10:2 = arith.addui_extended %arg1, %arg1 : i32, i1
    %11:2 = arith.mulsi_extended %arg1, %arg1 : i32
    %12 = arith.constant {tag} dense<1> : tensor<4xi32>
    %13 = arith.constant true
    %14:2 = builtin.unrealized_conversion_cast %arg1, %arg2 : i32, f32 to f64, index
",
    );
}

#[test]
fn what_the_text_cannot_say_is_generic() {
    check_lines(
        "    %0 = \"arith.addi\"(%arg1, %arg4) <{overflowFlags = #arith.overflow<none>}> : (i32, index) -> i32
    %1 = \"arith.cmpi\"(%arg1, %arg1) <{predicate = 77 : i64}> : (i32, i32) -> i1
    %2 = \"arith.cmpi\"(%arg1, %arg1) <{predicate = 1 : i64}> : (i32, i32) -> i32
",
    );
}

#[test]
fn branches_are_written_as_in_mlir() {
    check_same(
        "module {
  func.func @f(%arg0: i1, %arg1: i32) -> i32 {
    cf.assert %arg0, \"message\"
    cf.cond_br %arg0 weights([10, 20]), ^bb1(%arg1 : i32), ^bb2(%arg1, %arg0 : i32, i1) {tag}
  ^bb1(%0: i32):  // 2 preds: ^bb0, ^bb2
    cf.switch %0 : i32, [default: ^bb3, -4: ^bb2(%0, %arg0 : i32, i1)]
  ^bb2(%1: i32, %2: i1):  // 2 preds: ^bb0, ^bb1
    cf.br ^bb1(%1 : i32)
  ^bb3:  // pred: ^bb1
    return %arg1 : i32
  }
}
",
    );
}

#[test]
fn conditions_and_loops_are_written_as_in_mlir() {
    check_same(
        "module {
  func.func @f(%arg0: i1, %arg1: f32, %arg2: index, %arg3: i32) -> f32 {
    %0 = scf.if %arg0 -> (f32) {
      scf.yield %arg1 : f32
    } else {
      %3 = func.call @g(%arg1) : (f32) -> f32
      scf.yield %3 : f32
    }
    scf.if %arg0 {
    } {tag}
    scf.if %arg0 {
      scf.yield {tag}
    } else {
    }
    %1 = scf.for %arg4 = %arg2 to %arg2 step %arg2 iter_args(%arg5 = %0) -> (f32) {
      scf.yield %arg5 : f32
    }
    scf.for unsigned %arg4 = %arg3 to %arg3 step %arg3 : i32 {
    } {tag}
    %2 = scf.while (%arg4 = %1) : (f32) -> f32 {
      scf.condition(%arg0) %arg4 : f32
    } do {
    ^bb0(%arg4: f32):
      scf.yield %arg4 : f32
    } attributes {tag}
    scf.while : () -> () {
      scf.condition(%arg0) {tag}
    } do {
      scf.yield
    }
    return %2 : f32
  }
  func.func private @g(f32) -> f32
}
",
    );
}

#[test]
fn functions_are_values() {
    check_same(
        "module {
  func.func @f(%arg0: f32) -> f32 {
    %0 = constant {tag} @g : (f32) -> f32
    %1 = call_indirect %0(%arg0) {tag} : (f32) -> f32
    return {tag} %1 : f32
  }
  func.func private @g(f32) -> f32
}
",
    );
}

#[test]
fn a_wrong_word_is_told_with_the_right_ones() {
    check_errors(
        "func.func @f(%a: i32) {\n  %0 = arith.cmpi less, %a, %a : i32\n  return\n}\n",
        &["t:2:19: expected one of eq, ne, slt, sle, sgt, sge, ult, ule, ugt, uge, found `less`"],
    );
    check_errors(
        "func.func @f(%a: i32) {\n  %0 = arith.addi %a, %a overflow<nsv> : i32\n  return\n}\n",
        &["t:2:35: expected some of nsw, nuw"],
    );
}
