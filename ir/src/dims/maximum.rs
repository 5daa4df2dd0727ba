//! The maximum of an expression of sizes over the ranges of these sizes.
//!
//! ```text
//! n * m * max(n - m, 1), n <= 20, m <= 5   =>   1500, at n = 20, m = 5 (maxima of the factors: 1900)
//! ```
//!
//! Branch and bound: the part of the box with the greatest bound is cut in halves along its longest side. A
//! part is dropped if its bound is no more than a value already found at a corner. The bound of a single
//! point is its value, so the search ends with the maximum. After [`MOST_BOXES`] parts it ends with the
//! greatest remaining bound, which is sound and perhaps too large. The order of the search depends on the
//! numbers only.

use std::collections::BinaryHeap;

use super::range::{extreme, quotient, sum_of_lows, times};
use super::{Atom, Interval, Monomial, Ranges, symbols};
use crate::context::Context;
use crate::entities::{DimExpr, Ident};

/// A box: the least and the greatest number of each size, both included.
type SizeBox = [(u64, u64)];

/// An upper bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Maximum {
    /// The bound.
    pub value: i128,
    /// Whether the bound is attained; if not, the search was given up.
    pub is_exact: bool,
}

/// The largest number of parts of a box that are searched.
const MOST_BOXES: usize = 1024;

/// The maximum of an expression over the ranges of its symbols; none if a symbol has no upper bound.
pub fn maximum(ctx: &Context, expr: DimExpr, ranges: &Ranges) -> Option<Maximum> {
    let names = symbols(ctx, expr);
    let all: Vec<(u64, u64)> = names.iter().map(|name| ranges.of(*name)).collect();
    maximize(&all, &|part| bounds(ctx, expr, &names, part).high)
}

/// The maximum of a function over a box, by branch and bound. `upper` returns an upper bound over a part of
/// the box, and the exact value if the part is one point. None if a side of the box is unbounded.
pub fn maximize(all: &SizeBox, upper: &dyn Fn(&SizeBox) -> i128) -> Option<Maximum> {
    if all.iter().any(|(_, high)| *high == u64::MAX) {
        return None;
    }
    let corner = |part: &SizeBox, of: fn(&(u64, u64)) -> u64| {
        upper(&part.iter().map(|side| (of(side), of(side))).collect::<Vec<_>>())
    };
    let met = |part: &SizeBox| corner(part, |side| side.1).max(corner(part, |side| side.0));
    let mut best = met(all);
    // The last entry of the key orders equal bounds by the time of their creation.
    let mut open = BinaryHeap::from([(upper(all), usize::MAX, all.to_vec())]);
    for number in 0..MOST_BOXES {
        let Some((bound, _, part)) = open.pop().filter(|(bound, ..)| *bound > best) else {
            return Some(Maximum { value: best, is_exact: true });
        };
        let Some(halves) = halves(&part) else {
            best = best.max(bound);
            continue;
        };
        for (half, part) in halves.into_iter().enumerate() {
            best = best.max(met(&part));
            open.push((upper(&part), usize::MAX - 1 - 2 * number - half, part));
        }
    }
    let left = open.peek().map_or(best, |(bound, ..)| best.max(*bound));
    Some(Maximum { value: left, is_exact: left == best })
}

/// A box cut along its longest side; none for a point.
fn halves(part: &SizeBox) -> Option<[Vec<(u64, u64)>; 2]> {
    let longest = (0..part.len()).max_by_key(|side| (part[*side].1 - part[*side].0, usize::MAX - side))?;
    let (low, high) = part[longest];
    let middle = low + (high - low) / 2;
    let with = |side| {
        let mut half = part.to_vec();
        half[longest] = side;
        half
    };
    (low < high).then(|| [with((low, middle)), with((middle + 1, high))])
}

/// An interval that contains the values of an expression over a box of its symbols, given in the order of
/// `names`. At a single point it is the value, if defined. Nothing is interned, so many boxes cost no memory.
pub fn bounds(ctx: &Context, expr: DimExpr, names: &[Ident], part: &SizeBox) -> Interval {
    let terms = ctx.dim_expr(expr).terms();
    let products = || {
        terms.iter().map(|Monomial { factor, atoms }| {
            let factor = Interval { low: i128::from(*factor), high: i128::from(*factor) };
            atoms.iter().fold(factor, |product, atom| times(product, atom_bounds(ctx, atom, names, part)))
        })
    };
    let negated = products().map(|Interval { low, high }| Interval { low: negate(high), high: negate(low) });
    Interval { low: sum_of_lows(products()), high: negate(sum_of_lows(negated)) }
}

fn negate(value: i128) -> i128 {
    value.checked_neg().unwrap_or(i128::MAX)
}

fn atom_bounds(ctx: &Context, atom: &Atom, names: &[Ident], part: &SizeBox) -> Interval {
    let of = |expr: &DimExpr| bounds(ctx, *expr, names, part);
    match atom {
        Atom::Symbol(name) => {
            let side = names.iter().position(|known| known == name).map(|index| part[index]);
            let (low, high) = side.unwrap_or((0, u64::MAX));
            Interval { low: low.into(), high: if high == u64::MAX { i128::MAX } else { high.into() } }
        }
        Atom::FloorDiv { dividend, divisor } => quotient(of(dividend), of(divisor)),
        Atom::Min(exprs) => extreme(exprs.iter().map(of).collect(), i128::min),
        Atom::Max(exprs) => extreme(exprs.iter().map(of).collect(), i128::max),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dims::evaluate;
    use crate::text::parse_dim;

    fn read(ctx: &Context, text: &str) -> DimExpr {
        parse_dim(ctx, text).unwrap_or_else(|faults| panic!("{text}: {}", faults[0].message))
    }

    /// Checks the maximum where `n` and `m` are at least 1 and at most these.
    #[track_caller]
    fn check(text: &str, [n, m]: [u64; 2], expected: i128) {
        let ctx = Context::new();
        let mut ranges = Ranges::default();
        ranges.declare(ctx.ident("n"), 1, n);
        ranges.declare(ctx.ident("m"), 1, m);
        let found = maximum(&ctx, read(&ctx, text), &ranges);
        assert_eq!(found, Some(Maximum { value: expected, is_exact: true }), "{text}");
    }

    #[test]
    fn the_maximum_is_the_joint_one() {
        check("4 * n * m * max(n - m, 1)", [20, 5], 6000);
        check("n + (20 - n)", [20, 1], 20);
        check("min(n, 300 - n)", [300, 1], 150);
        check("n * (100 - n)", [100, 1], 2500);
        check("n mod 16", [100, 1], 15);
        check("n * m - n - m + 1", [512, 512], 511 * 511);
        check("(n + 2) floordiv 2 * (m ceildiv 2) * 64", [224, 224], 113 * 112 * 64);
        check("7", [1, 1], 7);
    }

    #[test]
    fn a_box_is_cut_along_its_longest_side_the_first_of_equals() {
        assert_eq!(halves(&[(0, 5), (0, 9)]), Some([vec![(0, 5), (0, 4)], vec![(0, 5), (5, 9)]]));
        assert_eq!(halves(&[(0, 3), (2, 5)]), Some([vec![(0, 1), (2, 5)], vec![(2, 3), (2, 5)]]));
        assert_eq!(halves(&[(7, 7), (4, 5)]), Some([vec![(7, 7), (4, 4)], vec![(7, 7), (5, 5)]]));
        assert_eq!(halves(&[(4, 4), (7, 7)]), None);
        assert_eq!(halves(&[]), None);
    }

    #[test]
    fn a_maximum_inside_the_box_is_found_by_its_bounds() {
        // The value falls with the distance from 37, which only the bound of a part of the box reveals.
        let upper = |part: &SizeBox| {
            let (low, high) = part[0];
            let away = 37u64.saturating_sub(high).max(low.saturating_sub(37));
            1000 - i128::from(away * away)
        };
        for side in [(0, 100), (37, 37), (0, 37), (37, 1000)] {
            assert_eq!(maximize(&[side], &upper), Some(Maximum { value: 1000, is_exact: true }), "{side:?}");
        }
        assert_eq!(maximize(&[(40, 99)], &upper), Some(Maximum { value: 991, is_exact: true }));
        assert_eq!(maximize(&[(0, 30)], &upper), Some(Maximum { value: 951, is_exact: true }));
        assert_eq!(maximize(&[(0, u64::MAX)], &upper), None, "it has no end");
    }

    #[test]
    fn a_symbol_without_an_end_has_no_maximum() {
        let ctx = Context::new();
        assert_eq!(maximum(&ctx, read(&ctx, "n + 1"), &Ranges::default()), None);
    }

    #[test]
    fn what_is_given_up_is_still_a_bound() {
        let ctx = Context::new();
        let mut ranges = Ranges::default();
        for name in ["a", "b", "c"] {
            ranges.declare(ctx.ident(name), 0, 1 << 20);
        }
        // Each remainder is bounded by its own divisor only in parts of the box that are equally small.
        let expr = read(&ctx, "(a mod 7) * (b mod 11) * (c mod 13)");
        let found = maximum(&ctx, expr, &ranges).expect("the box has an end");
        assert!(!found.is_exact, "the search ends before it has all");
        let names = symbols(&ctx, expr);
        let mut state = 1u64;
        for _ in 0..2000 {
            let mut next = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 33) % ((1 << 20) + 1)
            };
            let point = [next(), next(), next()];
            let value_of = |name| Some(point[names.iter().position(|known| *known == name)?] as i64);
            let value = evaluate(&ctx, expr, &value_of).expect("no number is large");
            assert!(i128::from(value) <= found.value, "{value} at {point:?} is above {found:?}");
        }
    }

    #[test]
    fn bounds_of_a_point_are_its_value() {
        let ctx = Context::new();
        for text in ["n * m * max(n - m, 1)", "(3 * n - 7) floordiv m", "min(n, m) * (n mod 5)", "n - m"] {
            let expr = read(&ctx, text);
            let names = symbols(&ctx, expr);
            for (n, m) in [(1, 1), (20, 5), (3, 17), (100, 99)] {
                let number = |name: &Ident| if ctx.str(*name) == "n" { n } else { m };
                let part: Vec<(u64, u64)> = names.iter().map(|name| (number(name), number(name))).collect();
                let value = evaluate(&ctx, expr, &|name| Some(number(&name) as i64));
                let value = i128::from(value.expect("its divisor is at least 1"));
                assert_eq!(bounds(&ctx, expr, &names, &part), Interval { low: value, high: value }, "{text}");
            }
        }
    }
}
