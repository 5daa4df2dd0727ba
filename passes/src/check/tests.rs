//! Plans of branches and loops that lose a value are refused, with a message that names it.

use std::sync::Arc;

use ir::Context;

use super::check;

/// `%r = f(...f(%y))` in a loop, with a value from outside, and a choice after it.
const LOOP: &str = r#"func.func @main(%n: index, %c: i1, %x: tensor<16xf32>) -> tensor<16xf32> attributes {optc.arena = 384 : i64} {
  %y = nn.neg %x {mem.place = [["arena", 0, 64]]} : tensor<16xf32>
  %z = nn.abs %x {mem.place = [["arena", 64, 64]]} : tensor<16xf32>
  %r = scf.for %i = %n to %n step %n iter_args(%a = %y) -> (tensor<16xf32>) {
    %0 = nn.mul %z, %z {mem.place = [["arena", 128, 64]]} : tensor<16xf32>
    %1 = nn.add %0, %a {mem.place = [["arena", 192, 64]]} : tensor<16xf32>
    scf.yield %1 : tensor<16xf32>
  } {mem.args = [[["arena", 256, 8], ["arena", 0, 64]]], mem.place = [["arena", 0, 64]]}
  %s = scf.if %c -> (tensor<16xf32>) {
    %2 = nn.neg %r {mem.place = [["arena", 64, 64]]} : tensor<16xf32>
    scf.yield %2 : tensor<16xf32>
  } else {
    scf.yield %r : tensor<16xf32>
  } {mem.place = [["arena", 128, 64]]}
  %t = nn.add %s, %x {mem.place = [["out", 0, 64]]} : tensor<16xf32>
  return %t : tensor<16xf32>
}"#;

/// Two values that are swapped in each iteration of a loop of blocks.
const BLOCKS: &str = r#"func.func @main(%c: i1, %x: tensor<16xf32>) -> tensor<16xf32> attributes {mem.args = [[], [["arena", 0, 64], ["arena", 64, 64]], [["out", 0, 64]]], optc.arena = 256 : i64} {
  %y = nn.neg %x {mem.place = [["arena", 0, 64]]} : tensor<16xf32>
  cf.br ^bb1(%y, %x : tensor<16xf32>, tensor<16xf32>)
^bb1(%a: tensor<16xf32>, %b: tensor<16xf32>):
  %0 = nn.abs %a {mem.place = [["arena", 128, 64]]} : tensor<16xf32>
  cf.cond_br %c, ^bb1(%b, %a : tensor<16xf32>, tensor<16xf32>), ^bb2(%0 : tensor<16xf32>) {mem.place = [["arena", 192, 64]], mem.scratch = 64 : i64}
^bb2(%d: tensor<16xf32>):
  return %d : tensor<16xf32>
}"#;

/// The faults of a plan in which the first `from` is replaced by `to`.
pub(super) fn faults(text: &str, from: &str, to: &str) -> Vec<String> {
    assert!(text.contains(from), "{from} is in the plan");
    let ctx = Arc::new(Context::new());
    let module = ir::text::parse(&ctx, "plan.mlir", text.replacen(from, to, 1));
    let module = module.unwrap_or_else(|faults| panic!("{}", faults[0].render(&ctx)));
    let (_, body) = module.functions().next().expect("there is a function");
    check(&ctx, body).into_iter().map(|fault| fault.message).collect()
}

#[track_caller]
pub(super) fn refuses(text: &str, from: &str, to: &str, expected: &str) {
    let found = faults(text, from, to);
    assert!(found.iter().any(|fault| fault.contains(expected)), "{found:?}");
}

#[test]
fn right_plans_are_accepted() {
    assert_eq!(faults(LOOP, "%n to", "%n to"), [""; 0]);
    assert_eq!(faults(BLOCKS, "cf.br", "cf.br"), [""; 0]);
}

#[test]
fn a_value_from_outside_a_loop_is_kept_for_the_next_round() {
    let lost = "the bytes of operand 0 are overwritten before this step reads them";
    let from = r#"%0 = nn.mul %z, %z {mem.place = [["arena", 128, 64]]}"#;
    refuses(LOOP, from, &from.replace("128", "64"), lost);
    let from = r#"%1 = nn.add %0, %a {mem.place = [["arena", 192, 64]]}"#;
    refuses(LOOP, from, &from.replace("192", "64"), lost);
}

#[test]
fn a_carried_value_is_kept_until_it_is_read() {
    let from = r#"%0 = nn.mul %z, %z {mem.place = [["arena", 128, 64]]}"#;
    refuses(LOOP, from, &from.replace("128", "0"), "operand 1 are overwritten");
}

#[test]
fn the_counter_has_bytes_of_its_own() {
    refuses(LOOP, r#"["arena", 256, 8]"#, r#"["arena", 64, 8]"#, "operand 0 are overwritten");
    refuses(LOOP, r#"["arena", 256, 8]"#, r#"["arena", 0, 8]"#, "operand 1 are overwritten");
}

#[test]
fn the_result_of_a_loop_is_where_the_loop_carries_it() {
    let from = r#"["arena", 0, 64]]], mem.place = [["arena", 0, 64]]}"#;
    let to = r#"["arena", 0, 64]]], mem.place = [["arena", 320, 64]]}"#;
    refuses(LOOP, from, to, "result 0 is not where the loop carries it");
}

#[test]
fn what_one_branch_overwrites_is_lost_after_both() {
    let tail = r#"} {mem.place = [["arena", 128, 64]]}
  %t = nn.add %s, %x {mem.place = [["out", 0, 64]]} : tensor<16xf32>"#;
    let later = tail.replace("%s, %x", "%s, %z");
    let kept = LOOP.replacen(tail, &later, 1).replacen(
        r#"%2 = nn.neg %r {mem.place = [["arena", 64, 64]]}"#,
        r#"%2 = nn.neg %r {mem.place = [["arena", 320, 64]]}"#,
        1,
    );
    assert_eq!(faults(&kept, "%n to", "%n to"), [""; 0]);
    refuses(&kept, r#"["arena", 320, 64]"#, r#"["arena", 64, 64]"#, "operand 1 are overwritten");
}

#[test]
fn places_of_arguments_are_read_strictly() {
    refuses(LOOP, r#"mem.args = [[["arena", 256, 8], "#, "mem.args = [[", "1 places for 2 arguments");
    refuses(LOOP, r#"["arena", 256, 8]"#, r#"["arena", 380, 8]"#, "exceeds the pool `arena`");
    refuses(LOOP, r#"["arena", 256, 8]"#, r#"["in", 0, 8]"#, "input 0 is not donated");
    refuses(BLOCKS, r#"["arena", 64, 64]], "#, r#"["arena", 64, 32]], "#, "32 bytes, expected 64");
}

/// Such a copy reads bytes that it has overwritten.
#[test]
fn what_is_handed_on_does_not_go_to_a_part_of_where_it_is() {
    const BRANCH: &str = r#"func.func @main(%x: tensor<32xf32>, %c: i1) -> tensor<32xf32> attributes {optc.arena = 256 : i64} {
  %0 = nn.neg %x {mem.place = [["arena", 0, 128]]} : tensor<32xf32>
  %1 = scf.if %c -> (tensor<32xf32>) {
    scf.yield %0 : tensor<32xf32>
  } else {
    scf.yield %x : tensor<32xf32>
  } {mem.place = [["arena", 128, 128]]}
  %2 = nn.abs %1 {mem.place = [["out", 0, 128]]} : tensor<32xf32>
  return %2 : tensor<32xf32>
}"#;
    assert_eq!(faults(BRANCH, "neg", "neg"), [""; 0]);
    assert_eq!(faults(BRANCH, r#"["arena", 128, 128]"#, r#"["arena", 0, 128]"#), [""; 0]);
    refuses(BRANCH, r#"["arena", 128, 128]"#, r#"["arena", 64, 128]"#, "needs 128 bytes of scratch, found 0");
}

#[test]
fn what_is_handed_on_at_once_has_separate_bytes() {
    refuses(BLOCKS, r#"["arena", 64, 64]], "#, r#"["arena", 0, 64]], "#, "copied to bytes that another");
    refuses(
        BLOCKS,
        r#"mem.place = [["arena", 192, 64]]"#,
        r#"mem.place = [["arena", 64, 64]]"#,
        "scratch shares bytes",
    );
}

#[test]
fn values_that_change_places_need_scratch() {
    let from = r#" {mem.place = [["arena", 192, 64]], mem.scratch = 64 : i64}"#;
    refuses(BLOCKS, from, "", "needs 64 bytes of scratch, found 0");
}

/// A sum in the bytes of one of its operands, and a view.
const TIED: &str = r#"func.func @main(%x: tensor<16xf32>) -> tensor<4x4xf32> attributes {optc.arena = 64 : i64} {
  %0 = nn.neg %x {mem.place = [["arena", 0, 64]]} : tensor<16xf32>
  %1 = nn.add %x, %0 {mem.place = [["arena", 0, 64]], mem.tie = array<i64: 1>} : tensor<16xf32>
  %2 = nn.reshape %1 {shape = array<i64: 4, 4>} : (tensor<16xf32>) -> tensor<4x4xf32>
  %3 = nn.abs %2 {mem.place = [["out", 0, 64]]} : tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}"#;

#[test]
fn what_overwrites_an_operand_is_tied_to_it() {
    assert_eq!(faults(TIED, "neg", "neg"), [""; 0]);
    refuses(TIED, ", mem.tie = array<i64: 1>", "", "result 0 has the bytes of operand 1 without a tie");
    refuses(TIED, "array<i64: 1>", "array<i64: 0>", "tied to operand 0 but placed elsewhere");
    refuses(TIED, "array<i64: 1>", "array<i64: 2>", "tied to operand 2 but placed elsewhere");
}

#[test]
fn a_view_has_no_place_of_its_own() {
    let from = "{shape = array<i64: 4, 4>}";
    let to = r#"{mem.place = [["arena", 0, 64]], shape = array<i64: 4, 4>}"#;
    refuses(TIED, from, to, "this view has the bytes of its operand");
}

#[test]
fn what_a_round_of_blocks_overwrites_is_lost_for_the_next() {
    let from = r#"%0 = nn.abs %a {mem.place = [["arena", 128, 64]]}"#;
    refuses(BLOCKS, from, &from.replace("128", "64"), "operand 1 are overwritten");
    refuses(BLOCKS, from, &from.replace("128", "0"), "operand 2 are overwritten");
}

/// Two operands in place in a concatenation that is itself in place in another, read before and after.
const PARTS: &str = r#"func.func @main(%x: tensor<2x2xf32>) -> tensor<2x8xf32> attributes {optc.arena = 64 : i64} {
  %0 = nn.neg %x {mem.pitch = array<i64: 8, 32>, mem.place = [["arena", 0, 16, 0, 8, 32]]} : tensor<2x2xf32>
  %1 = nn.abs %0 {mem.pitch = array<i64: 8, 32>, mem.place = [["arena", 0, 16, 8, 8, 32]]} : tensor<2x2xf32>
  %2 = nn.concat %0, %1 {axis = 1 : i64, mem.parts = array<i64: 0, 1>, mem.pitch = array<i64: 16, 32>, mem.place = [["arena", 0, 32, 0, 16, 32]]} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x4xf32>
  %3 = nn.add %0, %1 {mem.pitch = array<i64: 8, 32>, mem.place = [["arena", 0, 16, 16, 8, 32]]} : tensor<2x2xf32>
  %4 = nn.concat %2, %3, %x {axis = 1 : i64, mem.parts = array<i64: 0, 1>, mem.place = [["arena", 0, 64]]} : (tensor<2x4xf32>, tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x8xf32>
  %5 = nn.abs %4 {mem.place = [["out", 0, 64]]} : tensor<2x8xf32>
  return %5 : tensor<2x8xf32>
}"#;

#[test]
fn parts_of_parts_are_found_in_their_whole() {
    assert_eq!(faults(PARTS, "%0, %1 {mem", "%0, %1 {mem"), [""; 0]);
}

#[test]
fn a_part_elsewhere_than_in_its_whole_is_refused() {
    let lost = "operand 1 is not at its place in the result";
    refuses(PARTS, r#"["arena", 0, 16, 8, 8, 32]"#, r#"["arena", 0, 16, 24, 8, 32]"#, lost);
    refuses(PARTS, r#"["arena", 0, 16, 8, 8, 32]"#, r#"["arena", 0, 16, 8, 8, 24]"#, lost);
    refuses(PARTS, r#"["arena", 0, 16, 8, 8, 32]"#, r#"["arena", 0, 16, 8, 16, 16]"#, lost);
    refuses(PARTS, r#"["arena", 0, 32, 0, 16, 32]"#, r#"["arena", 0, 32, 8, 16, 32]"#, lost);
    refuses(
        PARTS,
        "array<i64: 0, 1>, mem.place",
        "array<i64: 0, 1, 2>, mem.place",
        "operand 2 is not at its place",
    );
}

/// `%x` is copied to rows of `%1`, which has gaps within them: rows of rows.
const NESTED: &str = r#"func.func @main(%x: tensor<2x2x2xf32>, %y: tensor<2x1x2xf32>) -> tensor<2x3x3xf32> attributes {optc.arena = 72 : i64} {
  %0 = nn.neg %y {mem.pitch = array<i64: 8, 36>, mem.place = [["arena", 0, 16, 0, 8, 36]]} : tensor<2x1x2xf32>
  %1 = nn.concat %0, %x {axis = 1 : i64, mem.parts = array<i64: 0>, mem.pitch = array<i64: 8, 12>, mem.place = [["arena", 0, 48, 0, 8, 12]]} : (tensor<2x1x2xf32>, tensor<2x2x2xf32>) -> tensor<2x3x2xf32>
  %2 = nn.slice %1 {mem.pitch = array<i64: 4, 12>, mem.place = [["arena", 0, 24, 8, 4, 12]], sizes = array<i64: 2, 3, 1>, starts = array<i64: 0, 0, 0>} : (tensor<2x3x2xf32>) -> tensor<2x3x1xf32>
  %3 = nn.concat %1, %2 {axis = 2 : i64, mem.parts = array<i64: 0, 1>, mem.place = [["arena", 0, 72]]} : (tensor<2x3x2xf32>, tensor<2x3x1xf32>) -> tensor<2x3x3xf32>
  %4 = nn.neg %3 {mem.place = [["out", 0, 72]]} : tensor<2x3x3xf32>
  return %4 : tensor<2x3x3xf32>
}"#;

#[test]
fn a_copy_into_rows_of_rows_meets_only_what_lies_there() {
    assert_eq!(faults(NESTED, "%0, %x {", "%0, %x {"), [""; 0]);
    let own = r#"%0 = nn.neg %y {mem.pitch = array<i64: 8, 36>, mem.place = [["arena", 0, 16, 0, 8, 36]]}"#;
    let later = own.replace("0, 8, 36]]", "12, 8, 36]]");
    let copied = NESTED.replace(own, &later).replace("mem.parts = array<i64: 0>, ", "");
    refuses(&copied, "%0, %x {", "%0, %x {", "result 0 overwrites operand 0 while it is read");
    refuses(NESTED, own, &later, "operand 0 is not at its place in the result");
    // Of what is copied, the last row alone, at bytes 60 to 68, meets bytes 64 to 96.
    let made = NESTED.replace("optc.arena = 72", "optc.arena = 96").replace(
        "  %0 = ",
        "  %m = nn.abs %x {mem.place = [[\"arena\", 64, 32]]} : tensor<2x2x2xf32>\n  %0 = ",
    );
    refuses(&made, "%0, %x {", "%0, %m {", "result 0 overwrites operand 1 while it is read");
    let swapped = NESTED.replace("mem.parts = array<i64: 0>, ", "mem.parts = array<i64: 1>, ");
    refuses(&swapped, "%0, %x {", "%0, %x {", "operand 1 is not at its place in the result");
}

#[test]
fn rows_that_overlap_lose_what_is_read_later() {
    let lost = "operand 0 are overwritten before";
    refuses(PARTS, r#"["arena", 0, 16, 16, 8, 32]"#, r#"["arena", 0, 16, 12, 8, 32]"#, lost);
}

#[test]
fn rows_are_read_strictly() {
    let from = r#"["arena", 0, 16, 16, 8, 32]"#;
    refuses(PARTS, from, r#"["arena", 0, 16, 32, 8, 32]"#, "exceeds the pool `arena` of 64");
    refuses(PARTS, from, r#"["arena", 0, 16, 16, 8, 4]"#, "rows of 8 at a distance of 4");
    refuses(PARTS, from, r#"["arena", 0, 16, 16, 5, 32]"#, "rows of 5 at a distance of 32");
    refuses(PARTS, from, r#"["arena", 0, 16, 16, 8]"#, "is not [pool, offset, bytes]");
    refuses(PARTS, "mem.pitch = array<i64: 8, 32>", "mem.pitch = array<i64: 8, 24>", "`mem.pitch` is");
    refuses(PARTS, "mem.pitch = array<i64: 8, 32>, ", "", "`mem.pitch` is");
}

/// A value and an argument whose sizes may be unknown.
const SIZES: &str = r#"func.func @main(%c: i1, %x: tensor<16xf32>) -> tensor<16xf32> attributes {mem.args = [[], [["arena", 64, 64]]], optc.arena = 256 : i64} {
  %y = nn.neg %x {mem.place = [["arena", 0, 64]]} : tensor<16xf32>
  cf.br ^bb1(%y : tensor<16xf32>)
^bb1(%a: tensor<16xf32>):
  %z = nn.neg %a {mem.place = [["out", 0, 64]]} : tensor<16xf32>
  return %z : tensor<16xf32>
}"#;

#[test]
fn places_without_a_size_or_a_form_are_refused() {
    assert_eq!(faults(SIZES, "cf.br", "cf.br"), [""; 0]);
    let unknown = SIZES.replace("tensor<16xf32>", "tensor<?xf32>");
    refuses(&unknown, "cf.br", "cf.br", "the size of a result is not known");
    refuses(&unknown, "cf.br", "cf.br", "the size of an argument is not known");
    let place = r#"mem.place = [["arena", 0, 64]]"#;
    refuses(SIZES, place, "mem.place = 3 : i64", "`mem.place` is not an array");
}

#[test]
fn rows_with_gaps_are_not_handed_on() {
    let gaps = r#"mem.pitch = array<i64: 32, 64>, mem.place = [["arena", 128, 64, 0, 32, 64]]"#;
    let expected = "operand 0 is passed on, but has gaps or another order";
    refuses(SIZES, r#"mem.place = [["arena", 0, 64]]"#, gaps, expected);
}

#[test]
fn a_loop_may_begin_with_a_weight() {
    let given = r#"%y = nn.neg %x {mem.place = [["arena", 0, 64]]} : tensor<16xf32>"#;
    assert_eq!(faults(LOOP, given, "%y = nn.constant dense<0.5> : tensor<16xf32>"), [""; 0]);
}

#[test]
fn scratch_for_values_that_change_places_is_as_large_as_one_of_them() {
    let scratch = |bytes: u64| format!(r#"["arena", 192, {bytes}]], mem.scratch = {bytes} : i64"#);
    assert_eq!(faults(BLOCKS, &scratch(64), &scratch(64)), [""; 0]);
    refuses(BLOCKS, &scratch(64), &scratch(63), "the parallel copy needs 64 bytes of scratch, found 63");
}
