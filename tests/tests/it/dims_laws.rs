//! How tight the bounds of sizes are.
//!
//! The unit tests of the algebra show that bounds hold. Bounds that are too wide are sound too, but passes
//! prove less with them: programs are then refused or take more memory. Here expressions of three symbols are
//! evaluated at every point of a small box, and the optimal bounds and proofs are counted. The counts may
//! grow.

use ir::dims::{
    Interval, Ranges, add, ceil_div, constant, evaluate, floor_div, interval, max, maximum, min, modulo, mul,
    provably_at_most, provably_different, provably_equal, sub, symbol,
};
use ir::{Context, DimExpr};
use tests::random::Random;

const NAMES: [&str; 3] = ["A", "B", "C"];
/// The range of each symbol.
const BOX: [(u64, u64); 3] = [(1, 5), (0, 4), (2, 7)];

type Of = fn(&Context, DimExpr, DimExpr) -> Option<DimExpr>;
const OPERATORS: [Of; 8] = [add, sub, mul, floor_div, ceil_div, modulo, min, max];

fn expression(ctx: &Context, random: &mut Random, depth: u32) -> Option<DimExpr> {
    match random.below(5) {
        0 => Some(constant(ctx, random.below(9) as i64 - 2)),
        1 => Some(symbol(ctx, random.pick(&NAMES))),
        _ if depth == 0 => Some(symbol(ctx, random.pick(&NAMES))),
        _ => {
            let of = random.pick(&OPERATORS);
            let a = expression(ctx, random, depth - 1)?;
            let b = expression(ctx, random, depth - 1)?;
            of(ctx, a, b)
        }
    }
}

/// The values of an expression at all points of the box; none if it is undefined at one of them.
fn values(ctx: &Context, expr: DimExpr) -> Option<Vec<i128>> {
    let mut values = Vec::new();
    let [a, b, c] = BOX.map(|(low, high)| low..=high);
    for a in a {
        for b in b.clone() {
            for c in c.clone() {
                let point = [a, b, c];
                let of = |name| {
                    let index = NAMES.iter().position(|known| *known == ctx.str(name))?;
                    Some(point[index] as i64)
                };
                values.push(i128::from(evaluate(ctx, expr, &of)?));
            }
        }
    }
    Some(values)
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Count {
    expressions: usize,
    low: usize,
    high: usize,
    maximum: usize,
}

#[test]
fn bounds_hold_and_are_as_near_as_they_were() {
    let ctx = Context::new();
    let mut random = Random::new(11);
    let mut ranges = Ranges::default();
    BOX.iter().zip(NAMES).for_each(|((low, high), name)| ranges.declare(ctx.ident(name), *low, *high));
    let mut count = Count::default();
    for _ in 0..3_000 {
        let Some(expr) = expression(&ctx, &mut random, 3) else { continue };
        let Some(values) = values(&ctx, expr) else { continue };
        let least = *values.iter().min().expect("the box has points");
        let most = *values.iter().max().expect("the box has points");
        let text = ir::dims::print(&ctx, expr);
        let Interval { low, high } = interval(&ctx, expr, &ranges);
        assert!(low <= least && most <= high, "{text}: {low} to {high}, but it is {least} to {most}");
        let found = maximum(&ctx, expr, &ranges).expect("the box has an end");
        assert!(found.value >= most && (!found.is_exact || found.value == most), "{text}: {found:?}, {most}");
        count.expressions += 1;
        count.low += usize::from(low == least);
        count.high += usize::from(high == most);
        count.maximum += usize::from(found.is_exact);
    }
    println!("{count:?}");
    assert!(count.low >= LOW && count.high >= HIGH && count.maximum >= MAXIMUM, "{count:?}");
}

/// The number of optimal bounds.
const LOW: usize = 2141;
const HIGH: usize = 2140;
const MAXIMUM: usize = 2290;

#[test]
fn proofs_hold_and_are_as_many_as_they_were() {
    let ctx = Context::new();
    let mut random = Random::new(12);
    let mut ranges = Ranges::default();
    BOX.iter().zip(NAMES).for_each(|((low, high), name)| ranges.declare(ctx.ident(name), *low, *high));
    let mut proved = [0; 3];
    let mut true_of = [0; 3];
    for _ in 0..3_000 {
        let pair = (expression(&ctx, &mut random, 2), expression(&ctx, &mut random, 2));
        let (Some(a), Some(b)) = pair else { continue };
        let (Some(of_a), Some(of_b)) = (values(&ctx, a), values(&ctx, b)) else { continue };
        let all = |holds: fn(i128, i128) -> bool| of_a.iter().zip(&of_b).all(|(a, b)| holds(*a, *b));
        let truths = [all(|a, b| a == b), all(|a, b| a <= b), all(|a, b| a != b)];
        let said = [
            provably_equal(&ctx, a, b, &ranges),
            provably_at_most(&ctx, a, b, &ranges),
            provably_different(&ctx, a, b, &ranges),
        ];
        let text = format!("{} and {}", ir::dims::print(&ctx, a), ir::dims::print(&ctx, b));
        for (index, (truth, said)) in truths.into_iter().zip(said).enumerate() {
            assert!(truth || !said, "{text}: proof {index}");
            true_of[index] += usize::from(truth);
            proved[index] += usize::from(said);
        }
    }
    println!("{proved:?} of {true_of:?}");
    let enough = proved.iter().zip(PROVED).all(|(found, known)| *found >= known);
    assert!(enough, "{proved:?} of {true_of:?} are proved, {PROVED:?} were");
}

/// The number of proved equalities, orders and differences.
const PROVED: [usize; 3] = [95, 681, 863];
