//! Shape arithmetic: the known elements of tensors that are computed from sizes.

use super::{Ranges, elements, print};
use crate::context::Context;
use crate::text::parse;
use std::sync::Arc;

/// Checks the elements of a function's result. `lines` follow the sizes `[N, 3, H]` and an input.
fn check(lines: &str, ty: &str, expected: Option<&str>) {
    let ctx = Arc::new(Context::new());
    let text = format!(
        "func.func @f(%x: tensor<3xi64>) -> {ty} {{
           %s = nn.sizes {{value = #optc.dims<N, 3, H>}} : tensor<3xi64>
           %m = nn.constant dense<[-1, 2, 3]> : tensor<3xi64>
           {lines}
           return %r : {ty}
         }}"
    );
    let module = parse(&ctx, "t", text).unwrap_or_else(|faults| panic!("{}", faults[0].message));
    let body = module.function("f").unwrap();
    let end = body.last_op(body.entry(body.root()).unwrap()).unwrap();
    let found = elements(&ctx, body, body.operand(end, 0), &Ranges::default());
    let found = found.map(|found| found.iter().map(|expr| print(&ctx, *expr)).collect::<Vec<_>>().join(", "));
    assert_eq!(found.as_deref(), expected, "{lines}");
}

#[test]
fn what_moves_elements_moves_expressions() {
    let three = "tensor<3xi64>";
    let slice =
        "%r = nn.slice %s {starts = array<i64: 1>, sizes = array<i64: 2>} : (tensor<3xi64>) -> tensor<2xi64>";
    check(slice, "tensor<2xi64>", Some("3, H"));
    let concat = "%r = nn.concat %s, %m {axis = 0 : i64} : (tensor<3xi64>, tensor<3xi64>) -> tensor<6xi64>";
    check(concat, "tensor<6xi64>", Some("N, 3, H, -1, 2, 3"));
    let gather = "%i = nn.constant dense<[-1, 0]> : tensor<2xi64>
        %r = nn.gather %s, %i : (tensor<3xi64>, tensor<2xi64>) -> tensor<2xi64>";
    check(gather, "tensor<2xi64>", Some("H, N"));
    let column = "%r = nn.reshape %s {shape = array<i64: 3, 1>} : (tensor<3xi64>) -> tensor<3x1xi64>";
    check(column, "tensor<3x1xi64>", Some("N, 3, H"));
    let by_sizes = "%r = nn.gather %m, %s : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi64>";
    check(by_sizes, three, None);
}

#[test]
fn arithmetic_is_done_on_expressions() {
    let three = "tensor<3xi64>";
    check("%r = nn.mul %s, %m : tensor<3xi64>", three, Some("-N, 6, 3 * H"));
    check("%r = nn.sub %s, %s : tensor<3xi64>", three, Some("0, 0, 0"));
    check("%r = nn.max %s, %m : tensor<3xi64>", three, Some("N, 3, max(H, 3)"));
    check(
        "%d = nn.constant dense<2> : tensor<1xi64>\n%r = nn.div %s, %d : (tensor<3xi64>, tensor<1xi64>) -> tensor<3xi64>",
        three,
        Some("N floordiv 2, 1, H floordiv 2"),
    );
    // Integer division rounds toward zero, that of expressions down: only numbers of at least 0 are divided.
    check(
        "%n = nn.neg %s : tensor<3xi64>\n%d = nn.constant dense<2> : tensor<1xi64>\n%r = nn.div %n, %d : (tensor<3xi64>, tensor<1xi64>) -> tensor<3xi64>",
        three,
        None,
    );
    check(
        "%r = nn.reduce_prod %s {axes = array<i64: 0>} : (tensor<3xi64>) -> tensor<i64>",
        "tensor<i64>",
        Some("3 * H * N"),
    );
    let narrow = "%c = nn.cast %s {to = i32} : (tensor<3xi64>) -> tensor<3xi32>\n%r = nn.cast %c {to = i64} : (tensor<3xi32>) -> tensor<3xi64>";
    check(narrow, three, Some("N, 3, H"));
}

#[test]
fn a_comparison_decides_only_where_it_is_proved() {
    let choose = |other: &str| {
        format!(
            "%o = nn.constant dense<{other}> : tensor<3xi64>
        %e = nn.eq %s, %o : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi1>
        %r = nn.select %e, %m, %s : (tensor<3xi1>, tensor<3xi64>, tensor<3xi64>) -> tensor<3xi64>"
        )
    };
    check(&choose("[-1, 3, -1]"), "tensor<3xi64>", Some("N, 2, H"));
    // `N` may be 1.
    check(&choose("[1, 3, -1]"), "tensor<3xi64>", None);
}

#[test]
fn nothing_is_known_of_an_input() {
    check("%r = nn.add %s, %x : tensor<3xi64>", "tensor<3xi64>", None);
}

#[test]
fn what_reads_numbers_only_is_evaluated() {
    let lines = "%d = nn.constant dense<[2, 2, 5]> : tensor<3xi64>
        %n = nn.rem %m, %d : tensor<3xi64>
        %e = nn.eq %n, %d : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi1>
        %t = nn.not %e : tensor<3xi1>
        %r = nn.cast %t {to = i64} : (tensor<3xi1>) -> tensor<3xi64>";
    check(lines, "tensor<3xi64>", Some("1, 1, 1"));
    let narrow = "%a = nn.constant dense<[-3, 0, 3]> : tensor<3xi8>
        %b = nn.abs %a : tensor<3xi8>
        %r = nn.cast %b {to = i64} : (tensor<3xi8>) -> tensor<3xi64>";
    check(narrow, "tensor<3xi64>", Some("3, 0, 3"));
    let unsigned = "%a = nn.constant dense<[0, 127, 200]> : tensor<3xui8>
        %r = nn.cast %a {to = i64} : (tensor<3xui8>) -> tensor<3xi64>";
    check(unsigned, "tensor<3xi64>", Some("0, 127, 200"));
}

#[test]
fn what_a_known_condition_does_not_choose_need_not_be_known() {
    // Whether `N` is 1 is not known, but `N` is equal to `N`, and `false` and anything is `false`.
    let lines = "%o = nn.constant dense<1> : tensor<3xi64>
        %a = nn.ne %s, %s : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi1>
        %b = nn.eq %s, %o : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi1>
        %c = nn.and %a, %b : tensor<3xi1>
        %d = nn.div %s, %x : tensor<3xi64>
        %r = nn.select %c, %d, %m : (tensor<3xi1>, tensor<3xi64>, tensor<3xi64>) -> tensor<3xi64>";
    check(lines, "tensor<3xi64>", Some("-1, 2, 3"));
    let either = "%t = nn.constant dense<true> : tensor<3xi1>
        %o = nn.constant dense<1> : tensor<3xi64>
        %b = nn.eq %s, %o : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi1>
        %c = nn.or %b, %t : tensor<3xi1>
        %r = nn.select %c, %s, %x : (tensor<3xi1>, tensor<3xi64>, tensor<3xi64>) -> tensor<3xi64>";
    check(either, "tensor<3xi64>", Some("N, 3, H"));
}

#[test]
fn order_and_remainders_are_known_where_they_are_proved() {
    let compared = |name: &str, other: &str| {
        format!(
            "%o = nn.constant dense<{other}> : tensor<3xi64>
        %c = nn.{name} %s, %o : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi1>
        %r = nn.cast %c {{to = i64}} : (tensor<3xi1>) -> tensor<3xi64>"
        )
    };
    // A size is 1 or more.
    check(&compared("lt", "[1, 3, -1]"), "tensor<3xi64>", Some("0, 0, 0"));
    check(&compared("ge", "[1, 4, -1]"), "tensor<3xi64>", Some("1, 0, 1"));
    check(&compared("gt", "[0, 2, -2]"), "tensor<3xi64>", Some("1, 1, 1"));
    check(&compared("le", "[0, 2, -2]"), "tensor<3xi64>", Some("0, 0, 0"));
    check(&compared("lt", "[2, 3, -1]"), "tensor<3xi64>", None);
    let rest = "%d = nn.constant dense<2> : tensor<1xi64>
        %r = nn.rem %s, %d : (tensor<3xi64>, tensor<1xi64>) -> tensor<3xi64>";
    check(rest, "tensor<3xi64>", Some("N - 2 * (N floordiv 2), 1, H - 2 * (H floordiv 2)"));
}

#[test]
fn floats_may_hold_sizes_as_long_as_they_are_whole() {
    let scaled = |number: &str, name: &str| {
        format!(
            "%f = nn.cast %s {{to = f32}} : (tensor<3xi64>) -> tensor<3xf32>
        %o = nn.constant dense<{number}> : tensor<3xf32>
        %p = nn.{name} %f, %o : tensor<3xf32>
        %q = nn.floor %p : tensor<3xf32>
        %r = nn.cast %q {{to = i64}} : (tensor<3xf32>) -> tensor<3xi64>"
        )
    };
    check(&scaled("[2.0, 1.0, 4.0]", "mul"), "tensor<3xi64>", Some("2 * N, 3, 4 * H"));
    check(&scaled("[1.0, 3.0, 1.0]", "div"), "tensor<3xi64>", Some("N, 1, H"));
    // Half of a size need not be a whole number.
    check(&scaled("[0.5, 1.0, 1.0]", "mul"), "tensor<3xi64>", None);
    check(&scaled("[2.0, 1.0, 1.0]", "div"), "tensor<3xi64>", None);
    let quotient = "%r = nn.div %s, %s : tensor<3xi64>";
    check(quotient, "tensor<3xi64>", Some("1, 1, 1"));
}

#[test]
fn operands_are_stretched_to_the_result() {
    let number = "%o = nn.constant dense<2> : tensor<i64>
        %r = nn.mul %s, %o : (tensor<3xi64>, tensor<i64>) -> tensor<3xi64>";
    check(number, "tensor<3xi64>", Some("2 * N, 6, 2 * H"));
    let column = "%c = nn.reshape %s {shape = array<i64: 3, 1>} : (tensor<3xi64>) -> tensor<3x1xi64>
        %r = nn.add %c, %m : (tensor<3x1xi64>, tensor<3xi64>) -> tensor<3x3xi64>";
    let sums = "N - 1, N + 2, N + 3, 2, 5, 6, H - 1, H + 2, H + 3";
    check(column, "tensor<3x3xi64>", Some(sums));
    let swapped = "nn.add %m, %c : (tensor<3xi64>, tensor<3x1xi64>)";
    let row = column.replace("nn.add %c, %m : (tensor<3x1xi64>, tensor<3xi64>)", swapped);
    assert!(row.contains(swapped));
    check(&row, "tensor<3x3xi64>", Some(sums));
}

#[test]
fn all_elements_are_folded_by_what_is_known_of_sizes() {
    let folded =
        |name: &str| format!("%r = nn.{name} %s {{axes = array<i64: 0>}} : (tensor<3xi64>) -> tensor<i64>");
    check(&folded("reduce_sum"), "tensor<i64>", Some("H + N + 3"));
    check(&folded("reduce_max"), "tensor<i64>", Some("max(H, N, 3)"));
    check(&folded("reduce_min"), "tensor<i64>", Some("min(H, N, 3)"));
    check(&folded("reduce_mean"), "tensor<i64>", None);
    let rows = "%c = nn.reshape %s {shape = array<i64: 3, 1>} : (tensor<3xi64>) -> tensor<3x1xi64>
        %r = nn.reduce_sum %c {axes = array<i64: 1>} : (tensor<3x1xi64>) -> tensor<3xi64>";
    check(rows, "tensor<3xi64>", None);
}

#[test]
fn the_numbers_next_to_a_size_decide_a_comparison() {
    let compared = |name: &str, other: &str| {
        format!(
            "%o = nn.constant dense<{other}> : tensor<3xi64>
        %c = nn.{name} %s, %o : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi1>
        %r = nn.cast %c {{to = i64}} : (tensor<3xi1>) -> tensor<3xi64>"
        )
    };
    for (name, other, expected) in [
        ("eq", "[0, 4, -1]", Some("0, 0, 0")),
        ("ne", "[0, 4, -1]", Some("1, 1, 1")),
        ("ne", "[0, 3, -1]", Some("1, 0, 1")),
        ("ne", "[1, 3, -1]", None),
        ("le", "[0, 3, 0]", Some("0, 1, 0")),
        ("le", "[1, 3, 0]", None),
        ("lt", "[1, 4, 0]", Some("0, 1, 0")),
        ("lt", "[1, 4, 2]", None),
        ("gt", "[0, 3, -1]", Some("1, 0, 1")),
        ("gt", "[0, 3, 1]", None),
        ("ge", "[1, 3, 1]", Some("1, 1, 1")),
        ("ge", "[1, 3, 2]", None),
    ] {
        check(&compared(name, other), "tensor<3xi64>", expected);
    }
}

#[test]
fn truth_values_are_known_only_where_what_they_are_made_of_is() {
    let made = |lines: &str| {
        format!(
            "%t = nn.constant dense<true> : tensor<3xi1>
        %f = nn.constant dense<false> : tensor<3xi1>
        %o = nn.constant dense<1> : tensor<3xi64>
        %same = nn.eq %s, %s : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi1>
        %open = nn.eq %s, %o : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi1>
        {lines}
        %r = nn.cast %c {{to = i64}} : (tensor<3xi1>) -> tensor<3xi64>"
        )
    };
    for (lines, expected) in [
        ("%c = nn.not %same : tensor<3xi1>", Some("0, 0, 0")),
        ("%c = nn.not %open : tensor<3xi1>", None),
        ("%c = nn.and %open, %t : tensor<3xi1>", None),
        ("%c = nn.and %open, %f : tensor<3xi1>", Some("0, 0, 0")),
        ("%c = nn.or %open, %f : tensor<3xi1>", None),
        ("%c = nn.or %open, %t : tensor<3xi1>", Some("1, 1, 1")),
        ("%c = nn.and %same, %t : tensor<3xi1>", Some("1, 1, 1")),
        ("%c = nn.or %same, %f : tensor<3xi1>", Some("1, 1, 1")),
    ] {
        check(&made(lines), "tensor<3xi64>", expected);
    }
}

#[test]
fn numbers_below_0_are_not_divided_and_nothing_by_them() {
    for lines in ["%r = nn.div %s, %m : tensor<3xi64>", "%r = nn.rem %m, %s : tensor<3xi64>"] {
        check(lines, "tensor<3xi64>", None);
    }
    let by = |number: i64| {
        format!(
            "%o = nn.constant dense<{number}> : tensor<3xi64>
        %r = nn.div %s, %o : tensor<3xi64>"
        )
    };
    check(&by(0), "tensor<3xi64>", None);
    check(&by(1), "tensor<3xi64>", Some("N, 3, H"));
}

#[test]
fn what_is_large_or_no_whole_number_is_no_shape() {
    let ones = |count: usize| (format!("%r = nn.constant dense<1> : tensor<{count}xi64>"), count);
    let (lines, count) = ones(64);
    check(&lines, "tensor<64xi64>", Some(&vec!["1"; count].join(", ")));
    check(&ones(65).0, "tensor<65xi64>", None);
    let whole = |number: &str| {
        format!(
            "%f = nn.constant dense<{number}> : tensor<1xf32>
        %r = nn.cast %f {{to = i64}} : (tensor<1xf32>) -> tensor<1xi64>"
        )
    };
    check(&whole("16777216.0"), "tensor<1xi64>", Some("16777216"));
    check(&whole("-16777216.0"), "tensor<1xi64>", Some("-16777216"));
    check(&whole("16777218.0"), "tensor<1xi64>", None);
    check(&whole("0.5"), "tensor<1xi64>", None);
}
