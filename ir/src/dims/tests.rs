//! Symbolic sizes: canonical forms, bounds, and the values at given sizes.

use super::*;
use crate::context::Context;
use crate::text::parse_dim;

fn read(ctx: &Context, text: &str) -> DimExpr {
    parse_dim(ctx, text).unwrap_or_else(|faults| panic!("{text}: {}", faults[0].message))
}

/// Checks the printed form of an expression, which parses as the same expression.
fn check(text: &str, expected: &str) {
    let ctx = Context::new();
    let expr = read(&ctx, text);
    let printed = print(&ctx, expr);
    assert_eq!(printed, expected, "{text}");
    assert!(read(&ctx, &printed) == expr, "{printed} is read as another expression");
}

#[test]
fn equal_polynomials_have_one_form() {
    check("B + A * 2 - B", "2 * A");
    check("(H + 1) * (H - 1) - H * H", "-1");
    check("W * H + 3 + H * W", "2 * H * W + 3");
    check("1 - N", "-N + 1");
    check("N - N", "0");
}

#[test]
fn a_quotient_keeps_what_is_left_of_its_dividend() {
    check("(H + 2 - 3) floordiv 2 + 1", "H ceildiv 2");
    check("(2 * N) floordiv 2", "N");
    check("(2 * N + 7) floordiv 4", "N ceildiv 2 + 1");
    check("(5 * N + M + 3) floordiv 4", "N + (M + N) ceildiv 4");
    check("(-N) floordiv 2", "-N + N floordiv 2");
    check("7 floordiv 2 - (-7) floordiv 2", "7");
}

#[test]
fn a_quotient_of_a_quotient_is_one() {
    check("((H ceildiv 2) + 1) floordiv 2", "H ceildiv 4");
    check("((((H ceildiv 2) ceildiv 2) ceildiv 2) ceildiv 2) ceildiv 2", "H ceildiv 32");
    check("(N floordiv 3 + M) floordiv 2", "(3 * M + N) floordiv 6");
}

#[test]
fn what_divisor_and_dividend_share_is_cancelled() {
    check("(N * H * W) floordiv (N * W)", "H");
    check("(12 * N * H) floordiv (8 * N)", "H + H floordiv 2");
    check("((H + 1) * (W + 2) * C) floordiv (C * (W + 2))", "H + 1");
    check("(H * W + 1) floordiv W", "H + 1 floordiv W");
    check("(N * M) floordiv (N + 1)", "(M * N) floordiv (N + 1)");
}

#[test]
fn rounding_up_and_remainders_are_written_with_rounding_down() {
    check("N ceildiv 4 - (N + 3) floordiv 4", "0");
    check("N mod 4", "N - 4 * (N floordiv 4)");
    check("(4 * N + 5) mod 4", "1");
    check("N ceildiv M", "(N - 1) floordiv M + 1");
}

#[test]
fn an_extreme_loses_what_never_decides() {
    check("max(N, 0)", "N");
    check("max(N, 1)", "max(N, 1)");
    check("min(N + 2, N)", "N");
    check("min(N, max(N, M))", "N");
    check("min(M, min(N, 4))", "min(M, N, 4)");
    check("max(N + 3, M + 3)", "max(M, N) + 3");
    check("min(N floordiv 2, N)", "N floordiv 2");
}

#[test]
fn names_that_are_no_words_stand_in_quotes() {
    check("\"past seq\" + \"min\" + \"N\"", "N + \"min\" + \"past seq\"");
    check("\"a\\22b\"", "\"a\\22b\"");
}

#[test]
fn what_can_not_be_written_is_none() {
    let ctx = Context::new();
    let n = symbol(&ctx, "N");
    let big = constant(&ctx, i64::MAX);
    assert_eq!(add(&ctx, big, big), None);
    assert_eq!(floor_div(&ctx, n, constant(&ctx, 0)), None);
    let sum = (0..20)
        .fold(n, |sum, index| add(&ctx, sum, symbol(&ctx, &format!("x{index}"))).expect("21 terms are few"));
    assert_eq!(mul(&ctx, sum, sum), None);
}

fn ranges(ctx: &Context, declared: &[(&str, u64, u64)]) -> Ranges {
    let mut ranges = Ranges::default();
    declared.iter().for_each(|(name, low, high)| ranges.declare(ctx.ident(name), *low, *high));
    ranges
}

/// Checks the interval found for an expression, where `N` is in 1..=20 and other symbols are at least 1.
fn check_interval(text: &str, low: i128, high: i128) {
    let ctx = Context::new();
    let found = interval(&ctx, read(&ctx, text), &ranges(&ctx, &[("N", 1, 20)]));
    assert_eq!(found, Interval { low, high }, "{text}");
}

#[test]
fn bounds_follow_from_ranges() {
    const NONE: i128 = i128::MAX;
    check_interval("2 * N - 1", 1, 39);
    check_interval("N * H", 1, NONE);
    check_interval("H * W - H - W + 1", 0, NONE);
    check_interval("N mod 4", 0, 3);
    check_interval("H mod 4", 0, 3);
    check_interval("2 * (H ceildiv 2) - H", 0, 1);
    check_interval("max(N - 5, 0)", 0, 15);
    check_interval("N - min(N, H)", 0, 19);
    check_interval("20 floordiv N", 1, 20);
    check_interval("H - max(H, W)", i128::MIN, 0);
}

#[test]
fn more_is_proved_equal_than_has_equal_handles() {
    let ctx = Context::new();
    let (a, b) = (read(&ctx, "N - N floordiv 2"), read(&ctx, "N ceildiv 2"));
    assert!(a != b && provably_equal(&ctx, a, b, &Ranges::LAWS));
    let (n, clamped) = (read(&ctx, "N"), read(&ctx, "min(N, 512)"));
    assert!(!provably_equal(&ctx, n, clamped, &Ranges::default()));
    assert!(provably_equal(&ctx, n, clamped, &ranges(&ctx, &[("N", 1, 512)])));
    assert!(!provably_equal(&ctx, n, clamped, &ranges(&ctx, &[("N", 1, 513)])));
}

#[test]
fn two_symbols_are_neither_equal_nor_different() {
    let ctx = Context::new();
    let (n, m) = (read(&ctx, "N"), read(&ctx, "M"));
    let ranges = Ranges::default();
    assert!(!provably_equal(&ctx, n, m, &ranges) && !provably_different(&ctx, n, m, &ranges));
    assert!(!provably_at_most(&ctx, n, m, &ranges) && !provably_at_most(&ctx, m, n, &ranges));
    assert!(provably_different(&ctx, read(&ctx, "N + 1"), n, &ranges));
}

#[test]
fn a_lower_bound_is_no_size() {
    let ctx = Context::new();
    let (n, one) = (read(&ctx, "N"), read(&ctx, "1"));
    assert!(provably_at_most(&ctx, one, n, &Ranges::default()));
    assert!(!provably_equal(&ctx, one, n, &Ranges::default()));
    assert!(provably_equal(&ctx, one, n, &ranges(&ctx, &[("N", 1, 1)])));
}

/// An expression without a canonical form.
enum Tree {
    Number(i64),
    Symbol(usize),
    Two(usize, Box<[Tree; 2]>),
}

const NAMES: [&str; 3] = ["A", "B", "C"];
type Of = fn(&Context, DimExpr, DimExpr) -> Option<DimExpr>;
const OPERATORS: [Of; 8] = [add, sub, mul, floor_div, ceil_div, modulo, min, max];

fn random(state: &mut u64) -> usize {
    *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    (*state >> 33) as usize
}

fn tree(state: &mut u64, depth: u32) -> Tree {
    match random(state) % 4 {
        0 => Tree::Number(random(state) as i64 % 9 - 2),
        1 => Tree::Symbol(random(state) % 3),
        _ if depth == 0 => Tree::Symbol(random(state) % 3),
        _ => {
            let which = random(state) % OPERATORS.len();
            Tree::Two(which, Box::new([tree(state, depth - 1), tree(state, depth - 1)]))
        }
    }
}

impl Tree {
    fn canonical(&self, ctx: &Context) -> Option<DimExpr> {
        match self {
            Tree::Number(value) => Some(constant(ctx, *value)),
            Tree::Symbol(index) => Some(symbol(ctx, NAMES[*index])),
            Tree::Two(which, sides) => {
                OPERATORS[*which](ctx, sides[0].canonical(ctx)?, sides[1].canonical(ctx)?)
            }
        }
    }

    fn value(&self, sizes: &[i64; 3]) -> Option<i64> {
        let Tree::Two(which, sides) = self else {
            return Some(match self {
                Tree::Number(value) => *value,
                Tree::Symbol(index) => sizes[*index],
                Tree::Two(..) => unreachable!("it was just asked"),
            });
        };
        let (a, b) = (sides[0].value(sizes)?, sides[1].value(sizes)?);
        match which {
            0 => Some(a + b),
            1 => Some(a - b),
            2 => Some(a * b),
            6 => Some(a.min(b)),
            7 => Some(a.max(b)),
            _ if b < 1 => None,
            3 => Some(a.div_euclid(b)),
            4 => Some((a + b - 1).div_euclid(b)),
            _ => Some(a.rem_euclid(b)),
        }
    }
}

#[test]
fn a_canonical_form_has_the_values_of_what_it_was_made_from() {
    let ctx = Context::new();
    let (mut state, mut compared) = (7, 0);
    for _ in 0..2000 {
        let tree = tree(&mut state, 4);
        let Some(expr) = tree.canonical(&ctx) else { continue };
        let printed = print(&ctx, expr);
        assert!(read(&ctx, &printed) == expr, "{printed} is read as another expression");
        let bounds = interval(&ctx, expr, &Ranges::LAWS);
        for _ in 0..6 {
            let sizes = [0; 3].map(|_| random(&mut state) as i64 % 13);
            let Some(expected) = tree.value(&sizes) else { continue };
            let value_of = |name| NAMES.iter().position(|known| *known == ctx.str(name)).map(|i| sizes[i]);
            let found = evaluate(&ctx, expr, &value_of);
            assert_eq!(found, Some(expected), "{printed} at {sizes:?}");
            let value = i128::from(expected);
            assert!(bounds.low <= value && value <= bounds.high, "{printed} at {sizes:?}: {bounds:?}");
            compared += 1;
        }
    }
    assert!(compared > 4000, "only {compared} values were compared");
}

#[test]
fn replacing_symbols_is_evaluating_later() {
    let ctx = Context::new();
    let expr = read(&ctx, "max((H ceildiv 2) * W, N) floordiv 3");
    let half = replace(&ctx, expr, &|name| (ctx.str(name) == "H").then(|| constant(&ctx, 7)));
    assert_eq!(print(&ctx, half.unwrap()), "max(N, 4 * W) floordiv 3");
    let names: Vec<&str> = symbols(&ctx, expr).iter().map(|name| ctx.str(*name)).collect();
    assert_eq!(names, ["H", "N", "W"]);
}

#[test]
fn a_quotient_is_taken_apart_only_where_it_is_the_one_of_a_sum_and_by_a_number() {
    check("(M floordiv 3 + N floordiv 3) floordiv 2", "(M floordiv 3 + N floordiv 3) floordiv 2");
    check("(2 * (N floordiv 3) + M) floordiv 5", "(M + 2 * (N floordiv 3)) floordiv 5");
    check("(N floordiv M + 1) floordiv 2", "(N floordiv M) ceildiv 2");
}

#[test]
fn sums_and_extremes_have_as_many_operands_as_are_kept_and_no_more() {
    let ctx = Context::new();
    let name = |index: usize| symbol(&ctx, &format!("x{index}"));
    let folded = |count: usize, of: Of| (1..count).try_fold(name(0), |found, at| of(&ctx, found, name(at)));
    assert!(folded(MOST_TERMS, add).is_some());
    assert_eq!(folded(MOST_TERMS + 1, add), None);
    for of in [min as Of, max] {
        assert!(folded(8, of).is_some());
        assert_eq!(folded(9, of), None);
    }
}

#[test]
fn a_table_says_whether_it_has_sizes_and_whether_one_of_them_is_0() {
    let ctx = Context::new();
    let mut table = SizeTable::new(vec![ctx.ident("N")]);
    assert!(table.is_empty());
    let rest = table.add(read(&ctx, "N - 2"));
    table.add(read(&ctx, "N"));
    assert_eq!((table.is_empty(), table.len()), (false, 2));
    let mut values = SizeValues::default();
    let mut at = |number: u64| {
        table.evaluate(&ctx, &[number], &mut values)?;
        Some((values.get(rest), values.has_zero()))
    };
    assert_eq!([at(1), at(2), at(3)], [None, Some((0, true)), Some((1, false))]);
}
