//! Interpreted conditions, loops and branches.

use std::sync::Arc;

use super::*;
use crate::interp::run;

/// The results of `@main` of a program for these numbers.
fn outcome(text: &str, inputs: &[i64]) -> Result<Vec<i64>, String> {
    let ctx = Arc::new(Context::new());
    let module = crate::text::parse(&ctx, "t", text.to_owned()).expect("the text has no faults");
    let errors = crate::verify::verify(&module).err().unwrap_or_default();
    assert!(errors.is_empty(), "{errors:?}");
    let (_, body) = module.functions().next().expect("a function");
    let args = body.args(body.entry(body.root()).expect("a block"));
    let values = args.iter().zip(inputs).map(|(arg, number)| {
        let ty = body.ty(*arg);
        let size = crate::size::tensor_bytes(&ctx, ty).expect("a number") as usize;
        Tensor::new(&ctx, ty, number.to_le_bytes()[..size].to_vec())
    });
    let results = run(&module, "main", &values.collect::<Vec<_>>()).map_err(|error| error.message)?;
    let number = |value: &Tensor| {
        let mut word = [if value.bytes.last().is_some_and(|byte| byte >> 7 == 1) { 0xFF } else { 0 }; 8];
        word[..value.bytes.len()].copy_from_slice(&value.bytes);
        i64::from_le_bytes(word)
    };
    Ok(results.iter().map(number).collect())
}

#[track_caller]
fn check(text: &str, inputs: &[i64], expected: &[i64]) {
    assert_eq!(outcome(text, inputs), Ok(expected.to_vec()));
}

const FACTORIAL: &str = "func.func @main(%n: index) -> i64 {
  %one = arith.constant 1 : i64
  %c1 = arith.constant 1 : index
  %end = arith.addi %n, %c1 : index
  %0 = scf.for %i = %c1 to %end step %c1 iter_args(%product = %one) -> (i64) {
    %1 = arith.index_cast %i : index to i64
    %2 = arith.muli %product, %1 : i64
    scf.yield %2 : i64
  }
  return %0 : i64
}";

#[test]
fn a_counted_loop_carries_its_values() {
    check(FACTORIAL, &[5], &[120]);
    check(FACTORIAL, &[0], &[1]);
}

const COLLATZ: &str = "func.func @main(%n: i64) -> (i64, i64) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %two = arith.constant 2 : i64
  %three = arith.constant 3 : i64
  %0:2 = scf.while (%x = %n, %steps = %zero) : (i64, i64) -> (i64, i64) {
    %go = arith.cmpi ne, %x, %one : i64
    scf.condition(%go) %x, %steps : i64, i64
  } do {
  ^bb0(%x: i64, %steps: i64):
    %odd = arith.remui %x, %two : i64
    %is_odd = arith.trunci %odd : i64 to i1
    %next = scf.if %is_odd -> (i64) {
      %1 = arith.muli %x, %three : i64
      %2 = arith.addi %1, %one : i64
      scf.yield %2 : i64
    } else {
      %1 = arith.divui %x, %two : i64
      scf.yield %1 : i64
    }
    %more = arith.addi %steps, %one : i64
    scf.yield %next, %more : i64, i64
  }
  return %0#0, %0#1 : i64, i64
}";

#[test]
fn a_conditional_loop_goes_on_while_its_condition_holds() {
    check(COLLATZ, &[6], &[1, 8]);
    check(COLLATZ, &[27], &[1, 111]);
    check(COLLATZ, &[1], &[1, 0]);
}

const SUM_OF_BLOCKS: &str = "func.func @main(%n: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  cf.br ^head(%zero, %zero : i32, i32)
^head(%i: i32, %sum: i32):
  %go = arith.cmpi slt, %i, %n : i32
  cf.cond_br %go, ^body, ^end(%sum : i32)
^body:
  %next = arith.addi %i, %one : i32
  %more = arith.addi %sum, %next : i32
  cf.br ^head(%next, %more : i32, i32)
^end(%result: i32):
  return %result : i32
}";

#[test]
fn blocks_hand_their_values_on() {
    check(SUM_OF_BLOCKS, &[10], &[55]);
    check(SUM_OF_BLOCKS, &[-3], &[0]);
}

const SWITCH: &str = "func.func @main(%i: i32) -> i32 {
  %a = arith.constant 10 : i32
  %b = arith.constant 20 : i32
  cf.switch %i : i32, [default: ^out(%i : i32), 3: ^out(%a : i32), -4: ^out(%b : i32)]
^out(%x: i32):
  return %x : i32
}";

#[test]
fn a_switch_goes_to_the_case_that_is_equal() {
    check(SWITCH, &[3], &[10]);
    check(SWITCH, &[-4], &[20]);
    check(SWITCH, &[5], &[5]);
}

#[test]
fn an_unsigned_loop_counts_beyond_the_signed_numbers() {
    let text = "func.func @main(%from: i8, %to: i8, %zero: i32, %by: i8) -> i32 {
      %one = arith.constant 1 : i32
      %0 = scf.for unsigned %i = %from to %to step %by iter_args(%n = %zero) -> (i32) : i8 {
        %1 = arith.addi %n, %one : i32
        scf.yield %1 : i32
      }
      return %0 : i32
    }";
    check(text, &[120, -6, 0, 2], &[65]);
    assert_eq!(
        outcome(text, &[0, 5, 0, 0]),
        Err("`scf.for`: the step of a loop is at least 1, found 0".into())
    );
}

#[test]
fn a_branch_without_results_may_do_nothing() {
    let text = "func.func @main(%c: i1, %x: i32) -> i32 {
      scf.if %c {
        cf.assert %c, \"never\"
      }
      return %x : i32
    }";
    check(text, &[0, 7], &[7]);
    check(text, &[1, 7], &[7]);
}

#[test]
fn an_assertion_that_fails_ends_the_run() {
    let text = "func.func @main(%c: i1) {\n  cf.assert %c, \"sizes differ\"\n  return\n}";
    assert_eq!(outcome(text, &[1]), Ok(Vec::new()));
    assert_eq!(outcome(text, &[0]), Err("`cf.assert`: sizes differ".into()));
}

#[test]
fn a_function_that_is_a_value_is_called() {
    let text = "func.func @main(%x: i32) -> i32 {
      %f = constant @twice : (i32) -> i32
      %0 = call_indirect %f(%x) : (i32) -> i32
      return %0 : i32
    }
    func.func @twice(%x: i32) -> i32 {
      %0 = arith.addi %x, %x : i32
      return %0 : i32
    }";
    check(text, &[21], &[42]);
}

/// The value of `%r = op : ...` for two numbers of a type.
#[track_caller]
fn check_op(op: &str, ty: &str, inputs: [i64; 2], expected: i64) {
    let result = if op.starts_with("cmp") { "i1" } else { ty };
    let text = format!(
        "func.func @main(%a: {ty}, %b: {ty}) -> {result} {{\n  %r = arith.{op} %a, %b : {ty}\n  return %r : {result}\n}}"
    );
    check(&text, &inputs, &[expected]);
}

#[test]
fn signs_are_the_operations_matter() {
    for (op, expected) in [
        ("divsi", -3),
        ("divui", 124),
        ("remsi", -1),
        ("remui", 1),
        ("ceildivsi", -3),
        ("ceildivui", 125),
        ("floordivsi", -4),
        ("maxsi", 2),
        ("maxui", -7),
        ("minsi", -7),
        ("minui", 2),
        ("shrsi", -2),
        ("shrui", 62),
        ("shli", -28),
    ] {
        check_op(op, "i8", [-7, 2], expected);
    }
    for (predicate, expected) in [("slt", 1), ("ult", 0), ("sge", 0), ("uge", 1), ("ne", 1), ("eq", 0)] {
        check_op(&format!("cmpi {predicate},"), "i8", [-7, 2], expected);
    }
    // As a signed integer, the `i1` true is -1.
    check_op("cmpi slt,", "i1", [1, 0], 1);
    check_op("cmpi ult,", "i1", [1, 0], 0);
    check_op("maxsi", "i1", [1, 0], 0);
}

/// The value of a cast.
#[track_caller]
fn check_cast(cast: &str, from: &str, to: &str, input: i64, expected: i64) {
    let text = format!(
        "func.func @main(%a: {from}) -> {to} {{\n  %r = arith.{cast} %a : {from} to {to}\n  return %r : {to}\n}}"
    );
    check(&text, &[input], &[expected]);
}

#[test]
fn casts_keep_the_number_or_the_lowest_bits() {
    check_cast("extsi", "i8", "i32", -7, -7);
    check_cast("extui", "i8", "i32", -7, 249);
    check_cast("extsi", "i1", "i32", 1, -1);
    check_cast("extui", "i1", "i32", 1, 1);
    check_cast("trunci", "i32", "i8", 300, 44);
    check_cast("trunci", "i32", "i1", 6, 0);
    check_cast("index_cast", "i8", "index", -7, -7);
    check_cast("index_castui", "i8", "index", -7, 249);
    check_cast("fptosi", "f32", "i8", 300f32.to_bits().into(), 127);
    check_cast("fptoui", "f32", "i8", 200f32.to_bits().into(), -56);
    check_cast("uitofp", "i8", "f32", -7, 249f32.to_bits().into());
    check_cast("sitofp", "i8", "f32", -7, i64::from((-7f32).to_bits() as i32));
    check_cast("bitcast", "i32", "f32", 1.5f32.to_bits().into(), 1.5f32.to_bits().into());
}

#[test]
fn the_bits_that_do_not_fit_are_a_second_result() {
    let text = |op: &str, high: &str, types: &str| {
        format!(
            "func.func @main(%a: i8, %b: i8) -> (i8, {high}) {{\n  %l, %h = arith.{op} %a, %b : {types}\n  return %l, %h : i8, {high}\n}}"
        )
    };
    check(&text("addui_extended", "i1", "i8, i1"), &[-1, 2], &[1, 1]);
    check(&text("addui_extended", "i1", "i8, i1"), &[1, 2], &[3, 0]);
    check(&text("mulsi_extended", "i8", "i8"), &[-100, 3], &[-44, -2]);
    check(&text("mului_extended", "i8", "i8"), &[-100, 3], &[-44, 1]);
}
