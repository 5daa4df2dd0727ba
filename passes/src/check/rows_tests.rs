//! A result that is written over rows of its operand is accepted at the proved distance, and refused if it is
//! nearer.

use std::sync::Arc;

use ir::Context;

use super::check;

/// A window of 3 rows over 8 rows of 64 bytes: written downwards, two rows below its operand.
const DOWN: &str = r#"func.func @main(%x: tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32> attributes {optc.arena = 640 : i64} {
  %w = nn.constant dense<0.5> : tensor<4x4x3x3xf32>
  %0 = nn.neg %x {mem.place = [["arena", 128, 512]]} : tensor<1x8x4x4xf32>
  %1 = nn.conv2d %0, %w {layout = "NHWC", mem.overlap = array<i64: 0, 1>, mem.place = [["arena", 0, 512]], pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x4x4xf32>, tensor<4x4x3x3xf32>) -> tensor<1x8x4x4xf32>
  %2 = nn.neg %1 {mem.place = [["out", 0, 512]]} : tensor<1x8x4x4xf32>
  return %2 : tensor<1x8x4x4xf32>
}"#;

/// A group that reads its image through a prologue, and adds another value after the window.
const GROUP: &str = r#"func.func @main(%x: tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32> attributes {optc.arena = 1152 : i64} {
  %w = nn.constant dense<0.5> : tensor<4x4x1x1xf32>
  %0 = nn.neg %x {mem.place = [["arena", 64, 512]]} : tensor<1x8x4x4xf32>
  %r = nn.abs %x {mem.place = [["arena", 640, 512]]} : tensor<1x8x4x4xf32>
  %1 = optc.group(%a = %0, %b = %w, %c = %r) {mem.overlap = array<i64: 0, 1>, mem.place = [["arena", 0, 512]]} : (tensor<1x8x4x4xf32>, tensor<4x4x1x1xf32>, tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32> {
    %3 = nn.relu %a : tensor<1x8x4x4xf32>
    %4 = nn.conv2d %3, %b {layout = "NHWC"} : (tensor<1x8x4x4xf32>, tensor<4x4x1x1xf32>) -> tensor<1x8x4x4xf32>
    %5 = nn.add %4, %c : tensor<1x8x4x4xf32>
    optc.yield %5 : tensor<1x8x4x4xf32>
  }
  %2 = nn.neg %1 {mem.place = [["out", 0, 512]]} : tensor<1x8x4x4xf32>
  return %2 : tensor<1x8x4x4xf32>
}"#;

const REFUSED: &str = "result 0 overwrites operand 0 while it is read";

/// The faults of a plan with changes made to its text.
#[track_caller]
fn faults(text: &str, changes: &[(&str, &str)]) -> Vec<String> {
    let text = changes.iter().fold(text.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "{from} is in the plan");
        text.replace(from, to)
    });
    let ctx = Arc::new(Context::new());
    let module = ir::text::parse(&ctx, "plan.mlir", text);
    let module = module.unwrap_or_else(|faults| panic!("{}", faults[0].render(&ctx)));
    let (_, body) = module.functions().next().expect("there is a function");
    check(&ctx, body).into_iter().map(|fault| fault.message).collect()
}

const BELOW: &str = r#"["arena", 0, 512]"#;
const ABOVE: &str = r#"["arena", 128, 512]"#;

#[test]
fn a_result_may_follow_the_rows_that_were_read() {
    assert_eq!(faults(DOWN, &[]), [""; 0]);
    assert_eq!(
        faults(DOWN, &[("640", "704"), (ABOVE, r#"["arena", 192, 512]"#), ("0, 1>", "0, 2>")]),
        [""; 0]
    );
}

#[test]
fn a_row_too_near_is_refused() {
    assert_eq!(faults(DOWN, &[(ABOVE, r#"["arena", 64, 512]"#)]), [REFUSED]);
    assert_eq!(faults(DOWN, &[("0, 1>", "0, 2>")]), [REFUSED], "bands of two rows need a third row between");
    assert_eq!(faults(DOWN, &[("1, 1, 1, 1", "2, 1, 0, 1")]), [REFUSED], "the window begins a row higher");
}

#[test]
fn bands_upwards_need_the_result_above() {
    let swap = [(ABOVE, "?"), (BELOW, ABOVE), ("?", BELOW)];
    let up = [&swap[..], &[("0, 1>", "0, -1>")]].concat();
    assert_eq!(faults(DOWN, &up), [""; 0]);
    assert_eq!(faults(DOWN, &swap), [REFUSED], "downwards it would overwrite what is still read");
    assert_eq!(faults(DOWN, &[("0, 1>", "0, -1>")]), [REFUSED]);
    let nearer = [&up[..], &[(ABOVE, r#"["arena", 64, 512]"#)]].concat();
    assert_eq!(faults(DOWN, &nearer), [REFUSED]);
}

#[test]
fn the_order_must_be_said_and_be_of_that_operand() {
    assert_eq!(faults(DOWN, &[("mem.overlap = array<i64: 0, 1>, ", "")]), [REFUSED]);
    assert_eq!(faults(DOWN, &[("0, 1>", "1, 1>")]), [REFUSED]);
    assert_eq!(faults(DOWN, &[("0, 1>", "0, 0>")]), [REFUSED]);
    assert_eq!(faults(DOWN, &[("layout = \"NHWC\", ", "")]), [REFUSED], "channels first, rows are no pieces");
}

#[test]
fn an_overwritten_operand_is_lost_for_later_readers() {
    let lost = "the bytes of operand 0 are overwritten before this step reads them";
    assert_eq!(faults(DOWN, &[("nn.neg %1", "nn.neg %0")]), [lost]);
}

#[test]
fn images_are_followed_one_after_the_other() {
    let two = [("tensor<1x8", "tensor<2x8"), ("512]", "1024]"), ("640", "1600")];
    let with = |changes: &[(&'static str, &'static str)]| faults(DOWN, &[&two[..], changes].concat());
    let above = |bytes: &'static str| (r#"["arena", 128, 1024]"#, bytes);
    assert_eq!(with(&[]), [""; 0], "no image needs more than one alone");
    assert_eq!(with(&[above(r#"["arena", 64, 1024]"#)]), [REFUSED]);
    let image_by_image = ("0, 1>", "0, 8>");
    assert_eq!(with(&[image_by_image, above(r#"["arena", 512, 1024]"#)]), [""; 0]);
    assert_eq!(with(&[image_by_image, above(r#"["arena", 448, 1024]"#)]), [REFUSED]);
    let several_rows = ("0, 1>", "0, 3>");
    assert_eq!(with(&[several_rows, above(r#"["arena", 256, 1024]"#)]), [""; 0], "no band has two images");
    assert_eq!(with(&[several_rows, above(r#"["arena", 192, 1024]"#)]), [REFUSED]);
}

/// A window of 1 row over two images of 4 rows of 64 bytes, into rows of 80 bytes.
const WIDER: &str = r#"func.func @main(%x: tensor<2x4x4x4xf32>)
    -> tensor<2x4x4x5xf32> attributes {optc.arena = 768 : i64} {
  %w = nn.constant dense<0.5> : tensor<5x4x1x1xf32>
  %0 = nn.neg %x {mem.place = [["arena", 128, 512]]} : tensor<2x4x4x4xf32>
  %1 = nn.conv2d %0, %w {
    layout = "NHWC", mem.overlap = array<i64: 0, 1>, mem.place = [["arena", 0, 640]]}
    : (tensor<2x4x4x4xf32>, tensor<5x4x1x1xf32>) -> tensor<2x4x4x5xf32>
  %2 = nn.neg %1 {mem.place = [["out", 0, 640]]} : tensor<2x4x4x5xf32>
  return %2 : tensor<2x4x4x5xf32>
}"#;

#[test]
fn a_result_with_wider_rows_gets_ahead_by_the_difference_of_each_image() {
    let operand_at = |place| (r#"["arena", 128, 512]"#, place);
    assert_eq!(faults(WIDER, &[operand_at(r#"["arena", 192, 512]"#)]), [""; 0]);
    assert_eq!(faults(WIDER, &[]), [REFUSED], "enough for an image, and not for two");
    let above = [(r#"["arena", 0, 640]"#, r#"["arena", 64, 640]"#), operand_at(r#"["arena", 0, 512]"#)];
    let upwards = [&above[..], &[("0, 1>", "0, -1>")]].concat();
    assert_eq!(faults(WIDER, &upwards), [""; 0]);
    assert_eq!(faults(WIDER, &above), [REFUSED]);
}

#[test]
fn a_group_reads_its_image_through_a_prologue_only() {
    assert_eq!(faults(GROUP, &[]), [""; 0]);
    assert_eq!(faults(GROUP, &[(r#"["arena", 64, 512]"#, BELOW)]), [REFUSED]);
    assert_eq!(faults(GROUP, &[("nn.add %4, %c", "nn.add %4, %a")]), [REFUSED]);
    assert_eq!(faults(GROUP, &[("nn.add %4, %c", "nn.add %4, %3")]), [REFUSED]);
    let residual = [("array<i64: 0, 1>", "array<i64: 2, 1>"), (r#"["arena", 64, 512]"#, "?")];
    let residual = [&residual[..], &[(r#"["arena", 640, 512]"#, r#"["arena", 64, 512]"#)]].concat();
    let residual = [&residual[..], &[("?", r#"["arena", 640, 512]"#)]].concat();
    assert_eq!(faults(GROUP, &residual), ["result 0 overwrites operand 2 while it is read"]);
}

/// A pooling whose result is in place in rows of 256 bytes of a concatenation: two rows of its operand make
/// one.
const PART: &str = r#"func.func @main(%x: tensor<1x8x8x4xf32>, %y: tensor<1x4x4x12xf32>) -> tensor<1x4x4x16xf32> attributes {optc.arena = 1280 : i64} {
  %0 = nn.neg %x {mem.place = [["arena", 256, 1024]]} : tensor<1x8x8x4xf32>
  %1 = nn.max_pool2d %0 {kernel = array<i64: 2, 2>, layout = "NHWC", mem.overlap = array<i64: 0, 1>, mem.pitch = array<i64: 16, 64>, mem.place = [["arena", 0, 256, 48, 16, 64]], strides = array<i64: 2, 2>} : (tensor<1x8x8x4xf32>) -> tensor<1x4x4x4xf32>
  %2 = nn.neg %y {mem.pitch = array<i64: 48, 64>, mem.place = [["arena", 0, 768, 0, 48, 64]]} : tensor<1x4x4x12xf32>
  %3 = nn.concat %2, %1 {axis = 3 : i64, mem.parts = array<i64: 0, 1>, mem.place = [["arena", 0, 1024]]} : (tensor<1x4x4x12xf32>, tensor<1x4x4x4xf32>) -> tensor<1x4x4x16xf32>
  %4 = nn.neg %3 {mem.place = [["out", 0, 1024]]} : tensor<1x4x4x16xf32>
  return %4 : tensor<1x4x4x16xf32>
}"#;

#[test]
fn a_part_of_wider_rows_follows_the_rows_that_were_read() {
    assert_eq!(faults(PART, &[]), [""; 0]);
    let nearer = [(r#"["arena", 256, 1024]"#, r#"["arena", 192, 1024]"#)];
    assert_eq!(faults(PART, &nearer), [REFUSED]);
    assert_eq!(faults(PART, &[("0, 1>, mem.pitch", "0, 4>, mem.pitch")]), [REFUSED]);
}

/// A line buffer of 3 rows of 64 bytes between two streamed steps.
const LINES: &str = r#"func.func @main(%x: tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32> attributes {optc.arena = 1408 : i64} {
  %w = nn.constant dense<0.5> : tensor<4x4x1x1xf32>
  %0 = nn.neg %x {mem.place = [["arena", 0, 512]]} : tensor<1x8x4x4xf32>
  %1 = optc.group(%a = %0, %b = %w) {mem.lines, mem.place = [["arena", 512, 512], ["arena", 1024, 192]], mem.scratch = 192 : i64} : (tensor<1x8x4x4xf32>, tensor<4x4x1x1xf32>) -> tensor<1x8x4x4xf32> {
    %3 = nn.conv2d %a, %b {layout = "NHWC"} : (tensor<1x8x4x4xf32>, tensor<4x4x1x1xf32>) -> tensor<1x8x4x4xf32>
    %4 = nn.max_pool2d %3 {kernel = array<i64: 3, 3>, layout = "NHWC", pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    optc.yield %4 : tensor<1x8x4x4xf32>
  }
  %2 = nn.neg %1 {mem.place = [["out", 0, 512]]} : tensor<1x8x4x4xf32>
  return %2 : tensor<1x8x4x4xf32>
}"#;

#[test]
fn steps_in_turns_need_room_for_the_rows_between_them() {
    assert_eq!(faults(LINES, &[]), [""; 0]);
    let lacks = "scratch of 128 bytes has no room for the 192 bytes of rows between its steps";
    assert_eq!(faults(LINES, &[("1024, 192]", "1024, 128]"), ("= 192", "= 128")]), [lacks]);
    assert_eq!(
        faults(LINES, &[("3, 3>", "4, 3>"), ("1, 1, 1, 1", "2, 1, 1, 1")]).len(),
        1,
        "a taller window"
    );
    let two = [
        ("tensor<1x8", "tensor<2x8"),
        ("1024, 192]", "2048, 192]"),
        ("512]", "1024]"),
        ("512, 1024]", "1024, 1024]"),
    ];
    let two = [&two[..], &[("1408", "2304")]].concat();
    assert_eq!(faults(LINES, &two), [""; 0], "the images of a batch pass one after the other");
    assert_eq!(
        faults(LINES, &[&two[..], &[("2048, 192]", "2048, 128]"), ("= 192", "= 128")]].concat()),
        [lacks]
    );
    let skips = [("optc.yield %4", "%5 = nn.add %3, %4 : tensor<1x8x4x4xf32>\n optc.yield %5")];
    assert_eq!(
        faults(LINES, &skips),
        ["its steps can't stream rows: each must read the one before row by row"]
    );
}

/// A pool that skips two rows of three: only the first row of the step before is computed, so its window
/// needs only what that row reads.
#[test]
fn rows_that_no_step_reads_need_no_room() {
    let text = r#"func.func @main(%x: tensor<1x3x4x4xf32>) -> tensor<1x1x2x4xf32>
    attributes {optc.arena = 448 : i64} {
  %v = nn.constant dense<0.5> : tensor<4x4x1x1xf32>
  %w = nn.constant dense<0.5> : tensor<4x4x2x1xf32>
  %0 = nn.neg %x {mem.place = [["arena", 0, 192]]} : tensor<1x3x4x4xf32>
  %1 = optc.group(%a = %0, %b = %v, %c = %w)
    {mem.lines, mem.place = [["arena", 192, 32], ["arena", 256, 128]], mem.scratch = 128 : i64}
    : (tensor<1x3x4x4xf32>, tensor<4x4x1x1xf32>, tensor<4x4x2x1xf32>) -> tensor<1x1x2x4xf32> {
    %3 = nn.conv2d %a, %b {layout = "NHWC"}
      : (tensor<1x3x4x4xf32>, tensor<4x4x1x1xf32>) -> tensor<1x3x4x4xf32>
    %4 = nn.conv2d %3, %c {layout = "NHWC", pads = array<i64: 1, 0, 0, 0>}
      : (tensor<1x3x4x4xf32>, tensor<4x4x2x1xf32>) -> tensor<1x3x4x4xf32>
    %5 = nn.max_pool2d %4 {kernel = array<i64: 1, 1>, layout = "NHWC", strides = array<i64: 3, 2>}
      : (tensor<1x3x4x4xf32>) -> tensor<1x1x2x4xf32>
    optc.yield %5 : tensor<1x1x2x4xf32>
  }
  %2 = nn.neg %1 {mem.place = [["out", 0, 32]]} : tensor<1x1x2x4xf32>
  return %2 : tensor<1x1x2x4xf32>
}"#;
    assert_eq!(faults(text, &[]), [""; 0], "a row of each step");
    let reads_two = [("array<i64: 1, 0, 0, 0>", "array<i64: 0, 0, 1, 0>")];
    let lacks = "scratch of 128 bytes has no room for the 192 bytes of rows between its steps";
    assert_eq!(faults(text, &reads_two), [lacks], "its first row reads two");
}

/// Two images of a row, and a window whose two elements are above and below it: it reads nothing.
#[test]
fn windows_that_touch_no_row_may_overwrite_any() {
    let text = r#"func.func @main(%x: tensor<2x1x4x4xf32>) -> tensor<2x1x4x4xf32>
    attributes {optc.arena = 192 : i64} {
  %w = nn.constant dense<0.5> : tensor<4x4x2x1xf32>
  %0 = nn.neg %x {mem.place = [["arena", 0, 128]]} : tensor<2x1x4x4xf32>
  %1 = nn.conv2d %0, %w {dilations = array<i64: 2, 1>, layout = "NHWC", mem.overlap = array<i64: 0, 1>,
      mem.place = [["arena", 64, 128]], pads = array<i64: 1, 0, 1, 0>}
    : (tensor<2x1x4x4xf32>, tensor<4x4x2x1xf32>) -> tensor<2x1x4x4xf32>
  %2 = nn.neg %1 {mem.place = [["out", 0, 128]]} : tensor<2x1x4x4xf32>
  return %2 : tensor<2x1x4x4xf32>
}"#;
    assert_eq!(faults(text, &[]), [""; 0]);
    let dense = [("dilations = array<i64: 2, 1>, ", ""), ("1, 0, 1, 0>", "1, 0, 0, 0>")];
    assert_eq!(faults(text, &dense), [REFUSED], "each image reads its row");
    let wide = [
        ("4x4x2x1", "16x4x2x1"),
        ("-> tensor<2x1x4x4xf32>", "-> tensor<2x1x4x16xf32>"),
        ("return %2 : tensor<2x1x4x4xf32>", "return %2 : tensor<2x1x4x16xf32>"),
        (r#"["out", 0, 128]]} : tensor<2x1x4x4xf32>"#, r#"["out", 0, 512]]} : tensor<2x1x4x16xf32>"#),
        (r#"["arena", 0, 128]"#, r#"["arena", 64, 128]"#),
        (r#"mem.place = [["arena", 64, 128]], pads"#, r#"mem.place = [["arena", 0, 512]], pads"#),
        ("optc.arena = 192", "optc.arena = 512"),
    ];
    assert_eq!(faults(text, &wide), [""; 0], "each row covers the operand");
    assert_eq!(faults(text, &[&wide[..], &dense].concat()), [REFUSED]);
}

#[test]
fn the_result_of_steps_in_turns_stands_apart_from_what_they_read() {
    let over = [
        (r#"["arena", 512, 512]"#, r#"["arena", 64, 512]"#),
        ("{mem.lines,", "{mem.lines, mem.overlap = array<i64: 0, -1>,"),
    ];
    assert_eq!(faults(LINES, &over), [REFUSED]);
    let scratch = [("1024, 192]", "448, 192]")];
    assert_eq!(
        faults(LINES, &scratch),
        ["result 0 shares bytes with scratch", "scratch overwrites operand 0"]
    );
}
