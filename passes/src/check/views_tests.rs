//! Views are found in their operand's bytes, to the byte, and a value written over one is refused.

use super::tests::{faults, refuses};

const LOST: &str = "the bytes of operand 0 are overwritten before this step reads them";
const UNPLACED: &str = "this step has no `mem.place`";

/// A window on rows 3 and 4 of 8 rows of 64 bytes, and a value of 64 bytes that is written before it is read.
const ROWS: &str = r#"func.func @main(%x: tensor<8x16xf32>, %y: tensor<1x16xf32>)
    -> tensor<2x16xf32> attributes {optc.arena = 576 : i64} {
  %0 = nn.neg %x {mem.place = [["arena", 0, 512]]} : tensor<8x16xf32>
  %1 = nn.slice %0 {sizes = array<i64: 2, 16>, starts = array<i64: 3, 0>}
      : (tensor<8x16xf32>) -> tensor<2x16xf32>
  %2 = nn.abs %y {mem.place = [["arena", 512, 64]]} : tensor<1x16xf32>
  %3 = nn.neg %1 {mem.place = [["out", 0, 128]]} : tensor<2x16xf32>
  return %3 : tensor<2x16xf32>
}"#;

/// A text with one replacement, which must occur in it.
#[track_caller]
fn changed(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "{from} is in the plan");
    text.replace(from, to)
}

#[test]
fn only_the_rows_of_a_window_are_kept() {
    let written = r#"["arena", 512, 64]"#;
    for offset in [0, 64, 128, 320, 384, 448, 512] {
        let to = format!(r#"["arena", {offset}, 64]"#);
        assert_eq!(faults(ROWS, written, &to), [""; 0], "{offset}");
    }
    for offset in [192, 256] {
        refuses(ROWS, written, &format!(r#"["arena", {offset}, 64]"#), LOST);
    }
}

/// The second row of that window.
const SECOND: &str = r#"func.func @main(%x: tensor<8x16xf32>, %y: tensor<1x16xf32>)
    -> tensor<1x16xf32> attributes {optc.arena = 576 : i64} {
  %0 = nn.neg %x {mem.place = [["arena", 0, 512]]} : tensor<8x16xf32>
  %1 = nn.slice %0 {sizes = array<i64: 2, 16>, starts = array<i64: 3, 0>}
      : (tensor<8x16xf32>) -> tensor<2x16xf32>
  %4 = nn.slice %1 {sizes = array<i64: 1, 16>, starts = array<i64: 1, 0>}
      : (tensor<2x16xf32>) -> tensor<1x16xf32>
  %2 = nn.abs %y {mem.place = [["arena", 512, 64]]} : tensor<1x16xf32>
  %3 = nn.neg %4 {mem.place = [["out", 0, 64]]} : tensor<1x16xf32>
  return %3 : tensor<1x16xf32>
}"#;

#[test]
fn a_window_on_a_window_keeps_no_more_than_it_shows() {
    let written = r#"["arena", 512, 64]"#;
    assert_eq!(faults(SECOND, written, r#"["arena", 192, 64]"#), [""; 0]);
    assert_eq!(faults(SECOND, written, r#"["arena", 320, 64]"#), [""; 0]);
    refuses(SECOND, written, r#"["arena", 256, 64]"#, LOST);
}

/// The attributes of the window on the rows.
const WINDOW: &str = "sizes = array<i64: 2, 16>, starts = array<i64: 3, 0>";

/// Another window, with this number of rows and columns.
fn sliced(attrs: &str, [rows, columns]: [u64; 2]) -> String {
    let ty = format!("tensor<{rows}x{columns}xf32>");
    let place = format!(r#"["out", 0, {}]"#, rows * columns * 4);
    changed(ROWS, WINDOW, attrs).replace("tensor<2x16xf32>", &ty).replace(r#"["out", 0, 128]"#, &place)
}

#[test]
fn a_window_without_gaps_needs_no_place_and_any_other_does() {
    let free = [
        ("sizes = array<i64: 1, 8>, starts = array<i64: 3, 4>", [1, 8]),
        ("sizes = array<i64: 2, 16>, starts = array<i64: 6, 0>, strides = array<i64: 1, 1>", [2, 16]),
        ("sizes = array<i64: 1, 16>, starts = array<i64: 6, 0>, strides = array<i64: 2, 1>", [1, 16]),
    ];
    for (attrs, sizes) in free {
        assert_eq!(faults(&sliced(attrs, sizes), "neg", "neg"), [""; 0], "{attrs}");
    }
    let apart = [
        ("sizes = array<i64: 2, 8>, starts = array<i64: 3, 4>", [2, 8]),
        ("sizes = array<i64: 2, 16>, starts = array<i64: 3, 0>, strides = array<i64: 2, 1>", [2, 16]),
        ("sizes = array<i64: 2, 16>, starts = array<i64: 4, 0>, strides = array<i64: -1, 1>", [2, 16]),
        ("sizes = array<i64: 1, 8>, starts = array<i64: 3, 0>, strides = array<i64: 1, 2>", [1, 8]),
        ("mem.copy, sizes = array<i64: 2, 16>, starts = array<i64: 3, 0>", [2, 16]),
    ];
    for (attrs, sizes) in apart {
        refuses(&sliced(attrs, sizes), "neg", "neg", UNPLACED);
    }
}

#[test]
fn a_copy_of_a_window_is_read_where_it_is_placed() {
    let copy = |offset: u64| {
        let place = format!(r#"mem.copy, mem.place = [["arena", {offset}, 128]], {WINDOW}"#);
        changed(ROWS, WINDOW, &place).replace("= 576", "= 640")
    };
    refuses(&copy(0), "neg", "neg", "result 0 overwrites operand 0 while it is read");
    refuses(&copy(512), "neg", "neg", LOST);
    assert_eq!(faults(&copy(512), r#"["arena", 512, 64]"#, r#"["arena", 192, 64]"#), [""; 0]);
}

/// A reshape of all elements, marked to be copied.
const RESHAPED: &str = r#"func.func @main(%x: tensor<8x16xf32>) -> tensor<2x64xf32>
    attributes {optc.arena = 576 : i64} {
  %0 = nn.neg %x {mem.place = [["arena", 0, 512]]} : tensor<8x16xf32>
  %1 = nn.reshape %0 {mem.copy, shape = array<i64: 2, 64>} : (tensor<8x16xf32>) -> tensor<2x64xf32>
  %2 = nn.neg %1 {mem.place = [["out", 0, 512]]} : tensor<2x64xf32>
  return %2 : tensor<2x64xf32>
}"#;

#[test]
fn the_elements_in_another_shape_have_no_place_of_their_own() {
    assert_eq!(faults(RESHAPED, "neg", "neg"), [""; 0]);
    let place = r#"{mem.copy, mem.place = [["arena", 0, 512]],"#;
    refuses(RESHAPED, "{mem.copy,", place, "this view has the bytes of its operand and no place of its own");
}

/// Columns 8 to 15 of six rows of 16, and the other columns of all rows, which are overwritten before.
const COLUMNS: &str = r#"func.func @main(%x: tensor<8x16xf32>, %y: tensor<8x8xf32>)
    -> tensor<6x8xf32> attributes {optc.arena = 512 : i64} {
  %0 = nn.neg %x {mem.place = [["arena", 0, 512]]} : tensor<8x16xf32>
  %1 = nn.slice %0 {mem.view, sizes = array<i64: 6, 8>, starts = array<i64: 1, 8>}
      : (tensor<8x16xf32>) -> tensor<6x8xf32>
  %2 = nn.abs %y {mem.pitch = array<i64: 32, 64>,
      mem.place = [["arena", 0, 256, 0, 32, 64]]} : tensor<8x8xf32>
  %3 = nn.neg %1 {mem.place = [["out", 0, 192]]} : tensor<6x8xf32>
  return %3 : tensor<6x8xf32>
}"#;

#[test]
fn what_lies_between_the_rows_of_a_marked_view_is_not_kept() {
    assert_eq!(faults(COLUMNS, "neg", "neg"), [""; 0]);
    let rows = r#"["arena", 0, 256, 0, 32, 64]"#;
    refuses(COLUMNS, rows, r#"["arena", 0, 256, 1, 32, 64]"#, LOST);
    refuses(COLUMNS, rows, r#"["arena", 0, 256, 32, 32, 64]"#, LOST);
    refuses(COLUMNS, "{mem.view, ", "{", UNPLACED);
    let from = |column: u64| changed(COLUMNS, "array<i64: 1, 8>", &format!("array<i64: 1, {column}>"));
    assert_eq!(faults(&from(0), rows, r#"["arena", 0, 256, 32, 32, 64]"#), [""; 0]);
    refuses(&from(0), rows, r#"["arena", 0, 256, 31, 32, 64]"#, LOST);
    refuses(&from(7), "neg", "neg", LOST);
}

/// A transposed square that is read in place, and a copy of it.
const TURNED: &str = r#"func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32>
    attributes {optc.arena = 128 : i64} {
  %0 = nn.neg %x {mem.place = [["arena", 0, 64]]} : tensor<4x4xf32>
  %1 = nn.transpose %0 {mem.view, permutation = array<i64: 1, 0>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = nn.abs %1 {mem.place = [["arena", 64, 64]]} : tensor<4x4xf32>
  %3 = nn.neg %2 {mem.place = [["out", 0, 64]]} : tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}"#;

#[test]
fn what_is_read_in_another_order_is_not_overwritten_on_the_way() {
    assert_eq!(faults(TURNED, "neg", "neg"), [""; 0]);
    let place = r#"%1 {mem.place = [["arena", 64, 64]]}"#;
    let tied = r#"%1 {mem.place = [["arena", 0, 64]], mem.tie = array<i64: 0>}"#;
    refuses(TURNED, place, tied, "result 0 overwrites operand 0 while it is read");
    let straight = changed(TURNED, "array<i64: 1, 0>", "array<i64: 0, 1>");
    assert_eq!(faults(&straight, place, tied), [""; 0], "each element is read where it is written");
}

#[test]
fn what_is_repeated_is_read_where_it_is_once() {
    let row = r#"func.func @main(%x: tensor<1x16xf32>) -> tensor<4x16xf32>
        attributes {optc.arena = 128 : i64} {
  %0 = nn.neg %x {mem.place = [["arena", 0, 64]]} : tensor<1x16xf32>
  %1 = nn.broadcast %0 {mem.view, shape = array<i64: 4, 16>} : (tensor<1x16xf32>) -> tensor<4x16xf32>
  %2 = nn.abs %x {mem.place = [["arena", 64, 64]]} : tensor<1x16xf32>
  %3 = nn.neg %1 {mem.place = [["out", 0, 256]]} : tensor<4x16xf32>
  return %3 : tensor<4x16xf32>
}"#;
    assert_eq!(faults(row, "neg", "neg"), [""; 0]);
    refuses(row, r#"["arena", 64, 64]"#, r#"["arena", 0, 64]"#, LOST);
}

/// A group that overwrites its first operand.
const GROUP: &str = r#"func.func @main(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>)
    -> tensor<4x4xf32> attributes {optc.arena = 64 : i64} {
  %0 = nn.neg %x {mem.place = [["arena", 0, 64]]} : tensor<4x4xf32>
  %1 = optc.group(%a = %0, %b = %y) {mem.place = [["arena", 0, 64]], mem.tie = array<i64: 0>}
      : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> {
    %3 = nn.relu %a : tensor<4x4xf32>
    %4 = nn.add %3, %b : tensor<4x4xf32>
    optc.yield %4 : tensor<4x4xf32>
  }
  %2 = nn.neg %1 {mem.place = [["out", 0, 64]]} : tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}"#;

/// The group with these operations instead of its two.
fn group(first: &str, second: &str) -> String {
    let text = changed(GROUP, "%3 = nn.relu %a : tensor<4x4xf32>", first);
    changed(&text, "%4 = nn.add %3, %b : tensor<4x4xf32>", second)
}

#[test]
fn a_group_overwrites_what_it_reads_only_where_it_writes() {
    let relu = "%3 = nn.relu %a : tensor<4x4xf32>";
    let add = "%4 = nn.add %3, %b : tensor<4x4xf32>";
    let right = |first: &str, second: &str| assert_eq!(faults(&group(first, second), "neg", "neg"), [""; 0]);
    right(relu, add);
    right(relu, "%4 = nn.add %3, %a : tensor<4x4xf32>");
    right("%3 = nn.relu %b : tensor<4x4xf32>", add);
    let wrong = |first: &str, second: &str| {
        refuses(&group(first, second), "neg", "neg", "result 0 overwrites operand 0 while it is read");
    };
    let turned = "{permutation = array<i64: 1, 0>} : (tensor<4x4xf32>) -> tensor<4x4xf32>";
    wrong(&format!("%3 = nn.transpose %a {turned}"), add);
    let sums = "{axes = array<i64: 1>, keepdims} : (tensor<4x4xf32>) -> tensor<4x1xf32>";
    let stretched = ": (tensor<4x1xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>";
    wrong(&format!("%3 = nn.reduce_sum %a {sums}"), &format!("%4 = nn.add %3, %b {stretched}"));
    let later = format!("%5 = nn.reduce_sum %3 {sums}\n    %4 = nn.add %5, %b {stretched}");
    wrong(relu, &later);
    wrong(relu, "%4 = nn.matmul %3, %b : tensor<4x4xf32>");
}

#[test]
fn whatever_else_a_group_reads_in_the_same_bytes_is_looked_at() {
    refuses(GROUP, "array<i64: 0>", "array<i64: -1>", "result 0 has the bytes of operand 0 without a tie");
    let twice = changed(GROUP, "%a = %0, %b = %y", "%a = %0, %b = %0");
    assert_eq!(faults(&twice, "relu", "relu"), [""; 0], "both at the index that is written");
    let product = changed(&twice, "nn.add %3, %b", "nn.matmul %a, %b");
    refuses(&product, "relu", "relu", "result 0 overwrites operand 1 while it is read");
}

/// A slice of a cube whose elements are not rows at one pitch, and a value that is written before it is read.
const CUBE: &str = r#"func.func @main(%x: tensor<4x4x4xf32>, %y: tensor<1xf32>)
    -> tensor<2x2x2xf32> attributes {optc.arena = 256 : i64} {
  %0 = nn.neg %x {mem.place = [["arena", 0, 256]]} : tensor<4x4x4xf32>
  %1 = nn.slice %0 {mem.view, sizes = array<i64: 2, 2, 2>, starts = array<i64: 1, 1, 1>}
      : (tensor<4x4x4xf32>) -> tensor<2x2x2xf32>
  %2 = nn.abs %y {mem.place = [["arena", 0, 4, 80, 4, 4]]} : tensor<1xf32>
  %3 = nn.neg %1 {mem.place = [["out", 0, 32]]} : tensor<2x2x2xf32>
  return %3 : tensor<2x2x2xf32>
}"#;

#[test]
fn a_marked_view_that_is_no_rows_keeps_all_from_its_first_byte_to_its_last() {
    let at = |first: u64| format!(r#"["arena", 0, 4, {first}, 4, 4]"#);
    for first in [0, 80, 172, 252] {
        assert_eq!(faults(CUBE, &at(80), &at(first)), [""; 0], "{first}");
    }
    // The elements have the numbers 21 and 22, and 42 is the last; 23 lies between them.
    for first in [81, 84, 4 * 23, 168, 171] {
        assert_eq!(faults(CUBE, &at(80), &at(first)), [LOST], "{first}");
    }
}

#[test]
fn a_window_without_elements_needs_no_place() {
    for starts in ["3, 4", "6, 0", "0, 16"] {
        let attrs = format!("sizes = array<i64: 2, 0>, starts = array<i64: {starts}>");
        assert_eq!(faults(&sliced(&attrs, [2, 0]), "neg", "neg"), [""; 0], "{starts}");
    }
}
