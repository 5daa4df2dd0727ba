//! That places are held to the bytes of the caller's buffers, and that what a step says counts for it alone.

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

/// An input that the caller gives away, and one that it keeps.
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

/// Two steps whose places are written alike.
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

/// A loop over a value that grows by one from outside, until a number is large enough.
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
