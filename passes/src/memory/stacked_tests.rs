//! How high is a stack of buffers, at given sizes and at all sizes?

use super::*;
use crate::place::Step;

/// Buffers that are live from a first to a last step, at multiples of `align`.
fn alive(lives: &[(u32, u32)], align: u64) -> Problem {
    let buffer = |(first, last): &(u32, u32)| Buffer {
        first: Step::from_u32(*first),
        last: Step::from_u32(*last),
        size_bytes: 0,
        align,
        pin: None,
    };
    Problem { buffers: lives.iter().map(buffer).collect(), ..Problem::default() }
}

fn ids(order: &[u32]) -> Vec<BufferId> {
    order.iter().map(|index| BufferId::from_u32(*index)).collect()
}

/// The height of three buffers stacked in an order; neighbours are live together.
fn height(order: [u32; 3], sizes: [i128; 3], align: u64) -> i128 {
    let problem = alive(&[(0, 1), (1, 2), (2, 3)], align);
    let numbers: PrimaryMap<BufferId, usize> = (0..3).collect();
    Stack::new(&problem, &ids(&order), &numbers, &[]).height(&sizes, &[])
}

#[test]
fn a_buffer_begins_above_the_highest_below_it_that_is_alive_with_it() {
    assert_eq!(height([0, 1, 2], [100, 50, 30], 64), 192 + 30);
    assert_eq!(height([0, 2, 1], [100, 50, 30], 64), 128 + 50, "the first and the last share bytes");
    assert_eq!(height([1, 0, 2], [100, 50, 30], 64), 64 + 100);
    assert_eq!(height([0, 1, 2], [64, 64, 64], 64), 192, "nothing is rounded");
    assert_eq!(height([0, 1, 2], [65, 64, 64], 64), 256);
    assert_eq!(height([0, 1, 2], [130, 50, 30], 128), 384 + 30);
    assert_eq!(height([0, 1, 2], [130, 50, 30], 16), 256 + 30, "64 is the least alignment");
}

#[test]
fn what_has_no_bytes_lifts_nothing() {
    assert_eq!(height([0, 1, 2], [100, 0, 30], 64), 100);
    assert_eq!(height([0, 1, 2], [100, -8, 130], 64), 130);
    assert_eq!(height([0, 1, 2], [0; 3], 64), 0);
}

#[test]
fn a_buffer_over_the_rows_of_another_begins_at_the_distance_at_most() {
    let ctx = Context::new();
    let problem = alive(&[(0, 1), (1, 2), (2, 3)], 64);
    let numbers: PrimaryMap<BufferId, usize> = (0..3).collect();
    // The first is the lower of the two.
    let shared = [SharedRows::of_bands(&ctx, 0, 4)];
    let height = |order: [u32; 3], distance: Option<i128>| {
        Stack::new(&problem, &ids(&order), &numbers, &shared).height(&[100, 50, 30], &[distance])
    };
    assert_eq!(height([0, 1, 2], None), 192 + 30, "they lie apart");
    assert_eq!(height([0, 1, 2], Some(500)), 192 + 30, "no farther than apart");
    assert_eq!(height([0, 1, 2], Some(20)), 128 + 30);
    assert_eq!(height([0, 1, 2], Some(0)), 100, "the second begins where the first begins");
    assert_eq!(height([1, 0, 2], Some(0)), 64 + 100, "the other way round nothing is shared");
}

/// `64 * N` bytes and the rest of 2048, with `N` from 1 to 31.
fn complements(ctx: &Context) -> (Vec<DimExpr>, Ranges) {
    let scaled = dims::mul(ctx, dims::constant(ctx, 64), dims::symbol(ctx, "N")).expect("it is small");
    let rest = dims::sub(ctx, dims::constant(ctx, 2048), scaled).expect("it is small");
    let mut ranges = Ranges::default();
    ranges.declare(ctx.ident("N"), 1, 31);
    (vec![scaled, rest], ranges)
}

#[test]
fn the_joint_maximum_is_that_of_all_sizes_at_once() {
    let ctx = Context::new();
    let (exprs, ranges) = complements(&ctx);
    let sizes = BufferSizes::new(&ctx, exprs.iter().copied(), &ranges);
    let together = alive(&[(0, 1), (1, 2)], 64);
    let greatest: Vec<u64> =
        sizes.at_greatest(&together).buffers.values().map(|buffer| buffer.size_bytes).collect();
    assert_eq!(greatest, [31 * 64, 31 * 64]);
    for order in [[0, 1], [1, 0]] {
        let found = sizes.joint_maximum(&together, &ids(&order), &[]);
        assert_eq!(found, Maximum { value: 2048, is_exact: true });
    }
    assert_eq!(sizes.stacked(&together).1, Maximum { value: 2048, is_exact: true });
    let apart = alive(&[(0, 1), (2, 3)], 64);
    assert_eq!(sizes.stacked(&apart).1, Maximum { value: 31 * 64, is_exact: true });
}

#[test]
fn equal_expressions_are_counted_for_each_buffer() {
    let ctx = Context::new();
    let (exprs, ranges) = complements(&ctx);
    let twice = [exprs[0], exprs[1], exprs[0]];
    let sizes = BufferSizes::new(&ctx, twice.into_iter(), &ranges);
    let together = alive(&[(0, 9), (0, 9), (0, 9)], 64);
    let (order, found) = sizes.stacked(&together);
    assert_eq!(found, Maximum { value: 2048 + 31 * 64, is_exact: true }, "at the greatest number");
    let mut sorted = order.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, ids(&[0, 1, 2]), "each is in the order once");
}
