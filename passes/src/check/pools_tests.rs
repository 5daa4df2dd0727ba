//! Plans are refused if a value is in the wrong pool, or a pool is no range of memory.

use super::tests::{faults, refuses};

/// A value in each of two pools, with scratch in the arena.
const POOLS: &str = r#"func.func @main(%x: tensor<16xf32>) -> tensor<16xf32> attributes {optc.arena = 384 : i64, optc.pools = {arena = {bytes = 128 : i64}, bank = {align = 128 : i64, capacity = 128 : i64, start = 128 : i64, bytes = 128 : i64}, image = {start = 256 : i64, bytes = 128 : i64}}} {
  %0 = nn.neg %x {mem.place = [["bank", 0, 64]], mem.pool = ["bank"]} : tensor<16xf32>
  %1 = nn.abs %0 {mem.place = [["image", 64, 64], ["arena", 0, 64]], mem.pool = ["image"], mem.scratch = 64 : i64} : tensor<16xf32>
  %2 = nn.neg %1 {mem.place = [["arena", 64, 64]]} : tensor<16xf32>
  %3 = nn.neg %2 {mem.place = [["out", 0, 64]]} : tensor<16xf32>
  return %3 : tensor<16xf32>
}"#;

#[test]
fn a_plan_of_several_pools_is_accepted() {
    assert_eq!(faults(POOLS, "image", "image"), [""; 0]);
}

#[test]
fn a_value_lies_in_the_pool_that_it_asks_for() {
    refuses(POOLS, r#"["bank", 0, 64]"#, r#"["image", 0, 64]"#, "result 0 is not in the pool `bank`");
    refuses(POOLS, r#"["bank", 0, 64]"#, r#"["arena", 64, 64]"#, "result 0 is not in the pool `bank`");
    refuses(POOLS, r#"["bank", 0, 64]"#, r#"["out", 0, 64]"#, "result 0 is not in the pool `bank`");
    refuses(POOLS, r#", mem.pool = ["bank"]"#, "", "result 0 is not in the pool `arena`");
    refuses(POOLS, r#"["arena", 64, 64]"#, r#"["image", 0, 64]"#, "result 0 is not in the pool `arena`");
    refuses(POOLS, r#"["bank", 0, 64]"#, r#"["banc", 0, 64]"#, "there is no pool `banc`");
}

#[test]
fn scratch_lies_in_the_arena() {
    refuses(
        POOLS,
        r#"["arena", 0, 64]"#,
        r#"["bank", 0, 64]"#,
        "the pool `bank` may not hold scratch or block arguments",
    );
}

#[test]
fn a_value_stays_in_its_pool_at_its_alignment() {
    refuses(POOLS, r#"["image", 64, 64]"#, r#"["image", 128, 64]"#, "exceeds the pool `image` of 128");
    refuses(
        POOLS,
        r#"["bank", 0, 64]"#,
        r#"["bank", 64, 64]"#,
        "offset 64 is not aligned in the pool `bank`",
    );
}

#[test]
fn pools_are_ranges_that_do_not_meet() {
    refuses(POOLS, "start = 256", "start = 192", "the pool `image` shares bytes with another");
    refuses(POOLS, "start = 256", "start = 320", "the pool `image` exceeds the memory of 384 bytes");
    refuses(POOLS, "start = 128", "start = 64", "the pool `bank` shares bytes with another");
    refuses(
        POOLS,
        "arena = {bytes = 128 : i64}, ",
        "arena = {bytes = 0 : i64, start = 32 : i64}, ",
        "the pool `arena` does not begin",
    );
}

#[test]
fn a_pool_keeps_to_its_capacity() {
    refuses(
        POOLS,
        "capacity = 128",
        "capacity = 127",
        "the pool `bank` has 128 bytes, more than it may take",
    );
}

/// An image whose rows begin at multiples of 64.
const IMAGE: &str = r#"func.func @main(%x: tensor<1x2x3x5xf32>) -> tensor<1x2x3x5xf32> attributes {optc.arena = 384 : i64, optc.pools = {arena = {bytes = 384 : i64, pitch = 64 : i64}}} {
  %0 = nn.neg %x {mem.pitch = array<i64: 60, 64>, mem.place = [["arena", 128, 120, 0, 60, 64]]} : tensor<1x2x3x5xf32>
  %1 = nn.neg %0 {mem.place = [["out", 0, 120]]} : tensor<1x2x3x5xf32>
  return %1 : tensor<1x2x3x5xf32>
}"#;

#[test]
fn rows_begin_at_multiples_of_the_pitch() {
    assert_eq!(faults(IMAGE, "neg", "neg"), [""; 0]);
    let other = IMAGE.replace("60, 64", "60, 128");
    assert_eq!(faults(&other, "neg", "neg"), [""; 0]);
    let expected = "rows of result 0 do not begin at multiples of the pool's pitch of 64";
    refuses(&IMAGE.replace("60, 64", "60, 68"), "neg", "neg", expected);
    refuses(IMAGE, "120, 0, 60", "120, 4, 60", expected);
    refuses(IMAGE, "60, 64>", "60, 128>", "`mem.pitch` is");
}

#[test]
fn rows_of_a_part_are_those_of_the_whole() {
    let whole = IMAGE
        .replace("60, 64", "60, 120")
        .replace("%1 = nn.neg %0 {", "%1 = nn.concat %0, %x {axis = 2 : i64, mem.parts = array<i64: 0>, ");
    let whole = whole.replace("[\"out\", 0, 120]", "[\"arena\", 128, 240]").replace(
        " : tensor<1x2x3x5xf32>\n  return %1 : tensor<1x2x3x5xf32>",
        " : (tensor<1x2x3x5xf32>, tensor<1x2x3x5xf32>) -> tensor<1x2x6x5xf32>\n  %2 = nn.neg %0 {mem.place = [[\"out\", 0, 120]]} : tensor<1x2x3x5xf32>\n  return %2 : tensor<1x2x3x5xf32>",
    );
    assert_eq!(faults(&whole, "neg", "neg"), [""; 0]);
}

/// An argument of a block, beside a pool.
const HANDED: &str = r#"func.func @main(%x: tensor<16xf32>) -> tensor<16xf32>
    attributes {mem.args = [[], [["arena", 0, 64]]], optc.arena = 192 : i64,
        optc.pools = {arena = {bytes = 128 : i64}, bank = {start = 128 : i64, bytes = 64 : i64}}} {
  cf.br ^bb1(%x : tensor<16xf32>)
^bb1(%a: tensor<16xf32>):
  %0 = nn.neg %a {mem.place = [["out", 0, 64]]} : tensor<16xf32>
  return %0 : tensor<16xf32>
}"#;

#[test]
fn arguments_of_blocks_lie_in_the_arena() {
    assert_eq!(faults(HANDED, "neg", "neg"), [""; 0]);
    let expected = "the pool `bank` may not hold scratch or block arguments";
    refuses(HANDED, r#"["arena", 0, 64]"#, r#"["bank", 0, 64]"#, expected);
}

/// A value in a pool of 128 bytes; the pool and the arena begin at the given bytes.
fn beginning(bank: u64, arena: u64) -> String {
    format!(
        r#"func.func @main(%x: tensor<16xf32>) -> tensor<16xf32> attributes {{optc.arena = 256 : i64,
    optc.pools = {{arena = {{bytes = 128 : i64, start = {arena} : i64}},
        bank = {{bytes = 128 : i64, start = {bank} : i64}}}}}} {{
  %0 = nn.neg %x {{mem.place = [["bank", 0, 64]], mem.pool = ["bank"]}} : tensor<16xf32>
  %1 = nn.neg %0 {{mem.place = [["out", 0, 64]]}} : tensor<16xf32>
  return %1 : tensor<16xf32>
}}"#
    )
}

#[test]
fn a_pool_may_lie_below_the_arena_or_above_it() {
    assert_eq!(faults(&beginning(0, 128), "neg", "neg"), [""; 0]);
    assert_eq!(faults(&beginning(128, 0), "neg", "neg"), [""; 0]);
    for (bank, arena) in [(64, 128), (128, 64), (0, 0), (0, 64)] {
        let text = beginning(bank, arena);
        assert_eq!(faults(&text, "neg", "neg"), ["the pool `bank` shares bytes with another"]);
    }
}

#[test]
fn what_has_no_rows_may_lie_in_a_pool_with_a_pitch() {
    let flat = r#"func.func @main(%x: tensor<30xf32>) -> tensor<30xf32> attributes {optc.arena = 128 : i64,
    optc.pools = {arena = {bytes = 128 : i64, pitch = 64 : i64}}} {
  %0 = nn.neg %x {mem.place = [["arena", 0, 120]]} : tensor<30xf32>
  %1 = nn.neg %0 {mem.place = [["out", 0, 120]]} : tensor<30xf32>
  return %1 : tensor<30xf32>
}"#;
    assert_eq!(faults(flat, "neg", "neg"), [""; 0]);
}

/// A value in place in a concatenation, and one that overwrites it there.
const OVER_PART: &str = r#"func.func @main(%x: tensor<1x2x3x5xf32>) -> tensor<1x2x6x5xf32>
    attributes {optc.arena = 256 : i64, optc.pools = {arena = {bytes = 256 : i64, pitch = 64 : i64}}} {
  %0 = nn.neg %x {mem.pitch = array<i64: 60, 120>,
      mem.place = [["arena", 0, 120, 0, 60, 120]]} : tensor<1x2x3x5xf32>
  %1 = nn.abs %0 {mem.pitch = array<i64: 60, 120>,
      mem.place = [["arena", 0, 120, 0, 60, 120]], mem.tie = array<i64: 0>} : tensor<1x2x3x5xf32>
  %2 = nn.concat %1, %x {axis = 2 : i64, mem.parts = array<i64: 0>, mem.place = [["arena", 0, 240]]}
      : (tensor<1x2x3x5xf32>, tensor<1x2x3x5xf32>) -> tensor<1x2x6x5xf32>
  %3 = nn.neg %2 {mem.place = [["out", 0, 240]]} : tensor<1x2x6x5xf32>
  return %3 : tensor<1x2x6x5xf32>
}"#;

#[test]
fn what_a_part_overwrites_or_is_a_view_of_has_the_rows_of_the_whole() {
    let tied = r#"%1 = nn.abs %0 {mem.pitch = array<i64: 60, 120>,
      mem.place = [["arena", 0, 120, 0, 60, 120]], mem.tie = array<i64: 0>} : tensor<1x2x3x5xf32>"#;
    let view = "%1 = nn.reshape %0 {shape = array<i64: 1, 2, 3, 5>}
      : (tensor<1x2x3x5xf32>) -> tensor<1x2x3x5xf32>";
    assert_eq!(faults(OVER_PART, tied, tied), [""; 0]);
    assert_eq!(faults(OVER_PART, tied, view), [""; 0]);
    let expected = "rows of result 0 do not begin at multiples of the pool's pitch of 64";
    refuses(OVER_PART, "mem.parts = array<i64: 0>, ", "", expected);
    let copied = OVER_PART.replace("mem.parts = array<i64: 0>, ", "");
    refuses(&copied, tied, view, expected);
}
