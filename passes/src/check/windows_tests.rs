//! Results may be written over rows of their operands only at the distance that their windows allow, and line
//! buffers must have room for all rows.

use super::tests::{faults, refuses};

const REFUSED: &str = "result 0 overwrites operand 0 while it is read";

/// A convolution over 8 rows of 64 bytes to `rows` rows of `columns` pixels, with the places of both.
fn conv(attrs: &str, [rows, columns]: [u64; 2], [input, output]: [u64; 2], bands: i64) -> String {
    let bytes = rows * columns * 16;
    let end = (input + 512).max(output + bytes).next_multiple_of(64);
    let ty = format!("tensor<1x{rows}x{columns}x4xf32>");
    format!(
        r#"func.func @main(%x: tensor<1x8x4x4xf32>) -> {ty} attributes {{optc.arena = {end} : i64}} {{
  %w = nn.constant dense<0.5> : tensor<4x4x3x3xf32>
  %0 = nn.neg %x {{mem.place = [["arena", {input}, 512]]}} : tensor<1x8x4x4xf32>
  %1 = nn.conv2d %0, %w {{{attrs}, layout = "NHWC", mem.overlap = array<i64: 0, {bands}>,
      mem.place = [["arena", {output}, {bytes}]]}} : (tensor<1x8x4x4xf32>, tensor<4x4x3x3xf32>) -> {ty}
  %2 = nn.neg %1 {{mem.place = [["out", 0, {bytes}]]}} : {ty}
  return %2 : {ty}
}}"#
    )
}

/// Checks the least distance between the two, if the one written over begins at 0.
#[track_caller]
fn check(attrs: &str, sizes: [u64; 2], bands: i64, least: u64) {
    let places = |distance: u64| if bands > 0 { [distance, 0] } else { [0, distance] };
    let at = |distance: u64| conv(attrs, sizes, places(distance), bands);
    assert_eq!(faults(&at(least), "neg", "neg"), [""; 0], "{attrs} {bands}: {least} are enough");
    assert_eq!(faults(&at(least + 64), "neg", "neg"), [""; 0], "{attrs} {bands}: more are enough");
    refuses(&at(least - 64), "neg", "neg", REFUSED);
}

#[test]
fn a_window_that_moves_by_two_rows_is_done_with_two_rows_each_time() {
    let attrs = "pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>";
    // Rows of the result have 32 bytes. Downwards the first one is nearest, upwards the last one.
    check(attrs, [4, 2], 1, 64);
    check(attrs, [4, 2], 2, 64);
    check(attrs, [4, 2], 4, 128);
    check(attrs, [4, 2], -1, 448);
    check(attrs, [4, 2], -2, 448);
    check(attrs, [4, 2], -4, 512);
}

#[test]
fn a_dilated_window_reaches_two_rows_back() {
    let attrs = "dilations = array<i64: 2, 2>, pads = array<i64: 2, 2, 2, 2>";
    check(attrs, [8, 4], 1, 192);
    check(attrs, [8, 4], 2, 256);
    check(attrs, [8, 4], -1, 192);
    check(attrs, [8, 4], -2, 256);
}

#[test]
fn a_window_without_padding_above_begins_with_its_row() {
    let attrs = "pads = array<i64: 0, 1, 2, 1>";
    check(attrs, [8, 4], 1, 64);
    check(attrs, [8, 4], 3, 192);
    check(attrs, [8, 4], -1, 192);
    let attrs = "pads = array<i64: 2, 1, 0, 1>";
    check(attrs, [8, 4], 1, 192);
    check(attrs, [8, 4], -1, 64);
}

/// Three streamed steps: 2 rows of 64 bytes lie between the first two, 3 of 32 between the others.
const TURNS: &str = r#"func.func @main(%x: tensor<1x8x4x4xf32>) -> tensor<1x4x2x4xf32>
    attributes {optc.arena = 896 : i64} {
  %w = nn.constant dense<0.5> : tensor<4x4x1x1xf32>
  %0 = nn.neg %x {mem.place = [["arena", 0, 512]]} : tensor<1x8x4x4xf32>
  %1 = optc.group(%a = %0, %b = %w) {mem.lines, mem.place = [["arena", 512, 128],
      ["arena", 640, 224]], mem.scratch = 224 : i64}
      : (tensor<1x8x4x4xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x2x4xf32> {
    %3 = nn.conv2d %a, %b {layout = "NHWC"}
        : (tensor<1x8x4x4xf32>, tensor<4x4x1x1xf32>) -> tensor<1x8x4x4xf32>
    %4 = nn.max_pool2d %3 {kernel = array<i64: 2, 2>, layout = "NHWC", strides = array<i64: 2, 2>}
        : (tensor<1x8x4x4xf32>) -> tensor<1x4x2x4xf32>
    %5 = nn.max_pool2d %4 {kernel = array<i64: 3, 3>, layout = "NHWC", pads = array<i64: 1, 1, 1, 1>}
        : (tensor<1x4x2x4xf32>) -> tensor<1x4x2x4xf32>
    optc.yield %5 : tensor<1x4x2x4xf32>
  }
  %2 = nn.neg %1 {mem.place = [["out", 0, 128]]} : tensor<1x4x2x4xf32>
  return %2 : tensor<1x4x2x4xf32>
}"#;

#[test]
fn all_rows_between_streamed_steps_have_room_at_once() {
    assert_eq!(faults(TURNS, "neg", "neg"), [""; 0]);
    let lacking = TURNS.replace("640, 224]", "640, 223]").replace("scratch = 224", "scratch = 223");
    let lacks = "scratch of 223 bytes has no room for the 224 bytes of rows between its steps";
    assert_eq!(faults(&lacking, "neg", "neg"), [lacks]);
    let without =
        TURNS.replace(",\n      [\"arena\", 640, 224]", "").replace(", mem.scratch = 224 : i64", "");
    let lacks = "scratch of 0 bytes has no room for the 224 bytes of rows between its steps";
    assert_eq!(faults(&without, "neg", "neg"), [lacks]);
    let whole = without.replace("mem.lines, ", "");
    assert_eq!(faults(&whole, "neg", "neg"), [""; 0], "it is one kernel's to say what it needs");
    let other = TURNS.replace(r#"layout = "NHWC", strides"#, "strides");
    refuses(&other, "neg", "neg", "its steps can't stream rows");
}
