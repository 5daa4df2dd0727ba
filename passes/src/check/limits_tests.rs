//! Places must lie within the caller's buffers, and the attributes of a step count for that step alone.

use super::tests::{faults, refuses};

/// Two results, each in the caller's buffer.
const TWO: &str = r#"func.func @main(%x: tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>)
    attributes {optc.arena = 64 : i64} {
  %0 = nn.neg %x {mem.place = [["out", 0, 64]]} : tensor<16xf32>
  %1 = nn.abs %x {mem.place = [["out", 1, 64]]} : tensor<16xf32>
  return %0, %1 : tensor<16xf32>, tensor<16xf32>
}"#;

#[test]
fn each_result_of_the_function_is_in_its_own_buffer() {
    assert_eq!(faults(TWO, "neg", "neg"), [""; 0]);
    let swapped = TWO.replace("return %0, %1", "return %1, %0");
    let expected = [0, 1].map(|at| format!("result {at} of the function is not in the caller's buffer"));
    assert_eq!(faults(&swapped, "neg", "neg"), expected);
    let both = r#"["out", 0, 64]"#;
    refuses(TWO, r#"["out", 1, 64]"#, both, "the bytes of operand 0 are overwritten before");
    refuses(TWO, r#"["out", 1, 64]"#, r#"["arena", 0, 64]"#, &expected[1]);
    refuses(TWO, r#"["out", 1, 64]"#, r#"["out", 2, 64]"#, "64 bytes do not fit the caller's buffer 2");
    let one = TWO.replace("return %0, %1", "return %0, %0");
    assert_eq!(faults(&one, "neg", "neg"), [expected[1].clone()], "it is in one of them");
}

/// A value in the caller's buffer before the result is written.
const EARLY: &str = r#"func.func @main(%x: tensor<16xf32>) -> tensor<2x16xf32>
    attributes {optc.arena = 64 : i64} {
  %0 = nn.neg %x {mem.place = [["out", 0, 64, 0, 64, 64]]} : tensor<16xf32>
  %1 = nn.abs %0 {mem.place = [["arena", 0, 64]]} : tensor<16xf32>
  %2 = nn.broadcast %1 {mem.place = [["out", 0, 128]], shape = array<i64: 2, 16>}
      : (tensor<16xf32>) -> tensor<2x16xf32>
  return %2 : tensor<2x16xf32>
}"#;

#[test]
fn a_value_may_lie_anywhere_in_a_buffer_but_not_beyond_it() {
    let place = r#"["out", 0, 64, 0, 64, 64]"#;
    for first in [0, 4, 64] {
        let to = format!(r#"["out", 0, 64, {first}, 64, 64]"#);
        assert_eq!(faults(EARLY, place, &to), [""; 0], "{first}");
    }
    refuses(EARLY, place, r#"["out", 0, 64, 65, 64, 64]"#, "129 bytes do not fit the caller's buffer 0");
    let rows = |first: u64| {
        format!(r#"mem.pitch = array<i64: 32, 96>, mem.place = [["out", 0, 64, {first}, 32, 96]]"#)
    };
    let from = format!("mem.place = [{place}]");
    assert_eq!(faults(EARLY, &from, &rows(0)), [""; 0]);
    refuses(EARLY, &from, &rows(1), "129 bytes do not fit the caller's buffer 0");
}

/// An input that is donated, and one that is not.
const DONATED: &str = r#"func.func @main(%x: tensor<16xf32> {optc.donated}, %k: tensor<16xf32>)
    -> tensor<16xf32> attributes {optc.arena = 64 : i64} {
  %0 = nn.neg %x {mem.place = [["arena", 0, 64]]} : tensor<16xf32>
  %1 = nn.abs %0 {mem.place = [["in", 0, 64]]} : tensor<16xf32>
  %2 = nn.add %1, %k {mem.place = [["out", 0, 64]]} : tensor<16xf32>
  return %2 : tensor<16xf32>
}"#;

#[test]
fn an_input_is_overwritten_only_if_it_is_donated_and_read_before() {
    let place = r#"["in", 0, 64]"#;
    assert_eq!(faults(DONATED, place, place), [""; 0]);
    let lacks =
        |input: usize, bytes: u64| format!("input {input} is not donated, or has fewer than {bytes} bytes");
    refuses(DONATED, place, r#"["in", 1, 64]"#, &lacks(1, 64));
    refuses(DONATED, place, r#"["in", 2, 64]"#, &lacks(2, 64));
    assert_eq!(faults(DONATED, place, r#"["in", 0, 64, 0, 64, 64]"#), [""; 0]);
    refuses(DONATED, place, r#"["in", 0, 64, 1, 64, 64]"#, &lacks(0, 65));
    let lost = "the bytes of operand 1 are overwritten before this step reads them";
    refuses(DONATED, "%1, %k", "%1, %x", lost);
    let first = r#"%x {mem.place = [["arena", 0, 64]]}"#;
    let tied = r#"%x {mem.place = [["in", 0, 64]], mem.tie = array<i64: 0>}"#;
    let over = DONATED.replace(place, r#"["arena", 0, 64]"#);
    assert_eq!(faults(&over, first, tied), [""; 0]);
    let untied = tied.replace(", mem.tie = array<i64: 0>", "");
    refuses(&over, first, &untied, "result 0 has the bytes of operand 0 without a tie");
    let kept = over.replace("nn.neg %x", "nn.neg %k");
    let other = r#"%k {mem.place = [["arena", 0, 64]]}"#;
    refuses(&kept, other, &tied.replace("%x", "%k"), "result 0 is tied to operand 0");
}

/// Two steps with the same places.
const ALIKE: &str = r#"func.func @main(%x: tensor<16xf32>, %y: tensor<8xf32>)
    -> tensor<16xf32> attributes {optc.arena = 192 : i64} {
  %0 = nn.abs %x {mem.place = [["arena", 0, 64], ["arena", 64, 64]], mem.scratch = 64 : i64} : tensor<16xf32>
  %1 = nn.neg %0 {mem.place = [["arena", 128, 64]]} : tensor<16xf32>
  %2 = nn.neg %0 {mem.place = [["arena", 128, 64]]} : tensor<16xf32>
  %3 = nn.neg %2 {mem.place = [["out", 0, 64]]} : tensor<16xf32>
  return %3 : tensor<16xf32>
}"#;

#[test]
fn equal_words_are_read_by_the_type_and_the_scratch_of_their_step() {
    assert_eq!(faults(ALIKE, "neg", "neg"), [""; 0]);
    let second = r#"%2 = nn.neg %0 {mem.place = [["arena", 128, 64]]} : tensor<16xf32>"#;
    let smaller = r#"%4 = nn.neg %y {mem.place = [["arena", 128, 64]]} : tensor<8xf32>"#;
    let both = format!("{second}\n  {smaller}");
    refuses(ALIKE, second, &both, "a place has 64 bytes, expected 32");
    let alike = r#"%1 = nn.neg %0 {mem.place = [["arena", 0, 64], ["arena", 64, 64]]}"#;
    let one = r#"%1 = nn.neg %0 {mem.place = [["arena", 128, 64]]}"#;
    refuses(ALIKE, one, alike, "`mem.place` has 2 entries, expected one for each result and scratch");
    let less = alike.replace("64]]}", "64]], mem.scratch = 32 : i64}");
    refuses(ALIKE, one, &less, "a place has 64 bytes, expected 32");
    refuses(ALIKE, ", mem.scratch = 64", ", mem.scratch = 0", "`mem.place` has 2 entries");
}

/// A loop that adds a value from outside until a number is large enough.
const WHILE: &str = r#"func.func @main(%n: f32, %z: f32, %x: tensor<16xf32>)
    -> tensor<16xf32> attributes {optc.arena = 320 : i64} {
  %y = nn.neg %x {mem.place = [["arena", 192, 64]]} : tensor<16xf32>
  %0:2 = scf.while (%a = %x, %i = %z) : (tensor<16xf32>, f32) -> (tensor<16xf32>, f32) {
    %1 = arith.cmpf olt, %i, %n {mem.place = [["arena", 128, 1]]} : f32
    scf.condition(%1) %a, %i : tensor<16xf32>, f32
  } do {
  ^bb0(%b: tensor<16xf32>, %j: f32):
    %2 = nn.add %b, %y {mem.place = [["arena", 0, 64]], mem.tie = array<i64: 0>} : tensor<16xf32>
    %3 = arith.addf %j, %n {mem.place = [["arena", 64, 4]], mem.tie = array<i64: 0>} : f32
    scf.yield %2, %3 : tensor<16xf32>, f32
  } attributes {mem.args = [[["arena", 0, 64], ["arena", 64, 4]], [["arena", 0, 64], ["arena", 64, 4]]],
      mem.place = [["arena", 0, 64], ["arena", 64, 4]]}
  %4 = nn.neg %0#0 {mem.place = [["out", 0, 64]]} : tensor<16xf32>
  return %4 : tensor<16xf32>
}"#;

#[test]
fn what_a_conditional_loop_needs_again_is_kept_on_all_ways() {
    assert_eq!(faults(WHILE, "neg", "neg"), [""; 0]);
    let flag = r#"["arena", 128, 1]"#;
    let lost = "the bytes of operand 1 are overwritten before this step reads them";
    refuses(WHILE, r#"["arena", 192, 64]"#, r#"["arena", 0, 64]"#, lost);
    refuses(WHILE, flag, r#"["arena", 192, 1]"#, lost);
    refuses(WHILE, flag, r#"["arena", 0, 1]"#, lost);
    refuses(WHILE, flag, r#"["arena", 64, 1]"#, "the bytes of operand 2 are overwritten");
    assert_eq!(faults(WHILE, flag, r#"["arena", 256, 1]"#), [""; 0]);
    let result = r#"mem.place = [["arena", 0, 64], ["arena", 64, 4]]"#;
    let elsewhere = r#"mem.place = [["arena", 256, 64], ["arena", 64, 4]]"#;
    refuses(WHILE, result, elsewhere, "result 0 is not where the loop carries it");
    let second = r#", [["arena", 0, 64], ["arena", 64, 4]]],"#;
    refuses(WHILE, second, "],", "`mem.args` has 0 places for 2 arguments of a block");
}

/// Values without elements, in places of 0 bytes.
const EMPTY: &str = r#"func.func @main(%x: tensor<4x0xf32>) -> tensor<4x0xf32>
    attributes {optc.arena = 128 : i64} {
  %0 = nn.neg %x {mem.place = [["arena", 0, 0]]} : tensor<4x0xf32>
  %1 = nn.abs %0 {mem.place = [["arena", 64, 0]], mem.tie = array<i64: 0>} : tensor<4x0xf32>
  %2 = nn.neg %1 {mem.place = [["out", 0, 0]]} : tensor<4x0xf32>
  return %2 : tensor<4x0xf32>
}"#;

#[test]
fn what_has_no_bytes_is_tied_wherever_it_lies() {
    assert_eq!(faults(EMPTY, "neg", "neg"), [""; 0]);
    refuses(EMPTY, r#"["arena", 64, 0]"#, r#"["arena", 64, 4]"#, "a place has 4 bytes, expected 0");
    refuses(EMPTY, "array<i64: 0>", "array<i64: 1>", "result 0 is tied to operand 1 but placed elsewhere");
}

/// A computed condition, and a value computed after it; then a branch or an `if`.
fn chosen(place: u64, ways: &str) -> String {
    format!(
        r#"func.func @main(%p: f32, %q: f32, %x: tensor<16xf32>) -> tensor<16xf32>
    attributes {{mem.args = [[], [["arena", 128, 64]]], optc.arena = 192 : i64}} {{
  %t = arith.cmpf olt, %p, %q {{mem.place = [["arena", 0, 1]]}} : f32
  %0 = nn.neg %x {{mem.place = [["arena", {place}, 64]]}} : tensor<16xf32>
  {ways}
  %2 = nn.abs %1 {{mem.place = [["out", 0, 64]]}} : tensor<16xf32>
  return %2 : tensor<16xf32>
}}"#
    )
}

#[test]
fn a_condition_is_kept_until_control_goes_one_way() {
    let branch = "cf.cond_br %t, ^bb1(%0 : tensor<16xf32>), ^bb1(%x : tensor<16xf32>)
^bb1(%1: tensor<16xf32>):";
    let choice = r#"%1 = scf.if %t -> (tensor<16xf32>) {
    scf.yield %0 : tensor<16xf32>
  } else {
    scf.yield %x : tensor<16xf32>
  } {mem.place = [["arena", 128, 64]]}"#;
    for ways in [branch, choice] {
        assert_eq!(faults(&chosen(64, ways), "neg", "neg"), [""; 0]);
        let lost = "the bytes of operand 0 are overwritten before this step reads them";
        assert_eq!(faults(&chosen(0, ways), "neg", "neg"), [lost]);
    }
}

#[test]
fn the_condition_of_a_loop_is_kept_until_it_is_asked() {
    let asked = "scf.condition(%1)";
    let after = |place: u64| {
        format!(r#"%5 = nn.neg %y {{mem.place = [["arena", {place}, 64]]}} : tensor<16xf32>"#)
            + "\n    scf.condition(%1)"
    };
    assert_eq!(faults(WHILE, asked, &after(256)), [""; 0]);
    let lost = "the bytes of operand 0 are overwritten before this step reads them";
    assert_eq!(faults(WHILE, asked, &after(128)), [lost]);
}

/// A transposed square that is passed to a block.
const TURNED: &str = r#"func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32>
    attributes {mem.args = [[], [["arena", 64, 64]]], optc.arena = 128 : i64} {
  %0 = nn.neg %x {mem.place = [["arena", 0, 64]]} : tensor<4x4xf32>
  %1 = nn.transpose %0 {mem.view, permutation = array<i64: 1, 0>}
      : (tensor<4x4xf32>) -> tensor<4x4xf32>
  cf.br ^bb1(%1 : tensor<4x4xf32>)
^bb1(%a: tensor<4x4xf32>):
  %2 = nn.neg %a {mem.place = [["out", 0, 64]]} : tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}"#;

#[test]
fn what_is_handed_on_stands_in_its_own_order() {
    let expected = "operand 0 is passed on, but has gaps or another order";
    assert_eq!(faults(TURNED, "neg", "neg"), [expected]);
    assert_eq!(faults(TURNED, "array<i64: 1, 0>", "array<i64: 0, 1>"), [""; 0]);
}

/// The first row of two is in place in a concatenation, whose other operand is copied over the second row.
const HALF: &str = r#"func.func @main(%x: tensor<2x4xf32>, %y: tensor<1x4xf32>)
    -> tensor<1x4xf32> attributes {optc.arena = 128 : i64} {
  %0 = nn.neg %x {mem.place = [["arena", 0, 32]]} : tensor<2x4xf32>
  %1 = nn.slice %0 {sizes = array<i64: 1, 4>, starts = array<i64: 0, 0>}
      : (tensor<2x4xf32>) -> tensor<1x4xf32>
  %2 = nn.concat %1, %y {axis = 1 : i64, mem.parts = array<i64: 0>, mem.place = [["arena", 0, 32]]}
      : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x8xf32>
  %3 = nn.slice %0 {sizes = array<i64: 1, 4>, starts = array<i64: 1, 0>}
      : (tensor<2x4xf32>) -> tensor<1x4xf32>
  %4 = nn.neg %3 {mem.place = [["out", 0, 16]]} : tensor<1x4xf32>
  return %4 : tensor<1x4xf32>
}"#;

#[test]
fn only_what_is_all_of_a_value_is_looked_for_in_the_whole_that_it_is_a_part_of() {
    let lost = "the bytes of operand 0 are overwritten before this step reads them";
    assert_eq!(faults(HALF, "neg", "neg"), [lost]);
}
