//! The orders in which buffers are placed, and the gaps that they are placed in.

use super::super::testing::{Family, aligned, buffer, problem};
use super::super::{Overlap, lower_bound};
use super::*;

fn id(index: u32) -> BufferId {
    BufferId::from_u32(index)
}

/// The peak is step 2, at which the first three are alive. The last two are not placed: one is pinned, and
/// one has no bytes.
fn six() -> Problem {
    let mut six = problem(&[
        buffer(0, 3, 10),
        buffer(2, 4, 30),
        buffer(2, 8, 20),
        buffer(5, 6, 15),
        buffer(7, 20, 20),
        buffer(5, 5, 12),
        buffer(31, 31, 1),
        buffer(30, 30, 0),
    ]);
    six.buffers[id(6)].pin = Some(0);
    six
}

#[test]
fn each_order_is_by_what_it_is_called() {
    let six = six();
    for (order, expected) in [
        (GreedyOrder::Size, [1, 4, 2, 3, 5, 0]),
        (GreedyOrder::SizeBreadth, [1, 2, 4, 3, 5, 0]),
        (GreedyOrder::Area, [4, 2, 1, 0, 3, 5]),
        (GreedyOrder::Life, [4, 2, 0, 1, 3, 5]),
        (GreedyOrder::Birth, [0, 1, 2, 3, 5, 4]),
        (GreedyOrder::Death, [4, 2, 3, 5, 1, 0]),
        (GreedyOrder::Degree, [2, 1, 3, 5, 0, 4]),
        (GreedyOrder::Breadth, [1, 2, 0, 3, 5, 4]),
        (GreedyOrder::BreadthLife, [2, 0, 1, 3, 5, 4]),
        (GreedyOrder::PeakBirth, [0, 1, 2, 4, 3, 5]),
        (GreedyOrder::PeakLife, [2, 0, 1, 4, 3, 5]),
        (GreedyOrder::PeakDeath, [2, 1, 0, 4, 3, 5]),
    ] {
        let found: Vec<u32> = order.sort(&six).into_iter().map(|id| id.as_u32()).collect();
        assert_eq!(found, expected, "{order:?}");
    }
}

#[test]
fn areas_of_more_than_64_bits_are_in_order() {
    let long = |size_bytes: u64, last: u32| buffer(0, last, size_bytes);
    let large = problem(&[long(1 << 60, 31), long(1 << 61, 31), long(1 << 61, 14)]);
    let found: Vec<u32> = GreedyOrder::Area.sort(&large).into_iter().map(|id| id.as_u32()).collect();
    assert_eq!(found, [1, 0, 2], "64, 32 and 30 times 2 to the 60");
}

#[test]
fn breadths_and_degrees_are_those_of_all_steps_and_pairs() {
    for family in Family::ALL {
        for seed in 0..10 {
            let problem = family.draw(2 + 3 * seed as u32, seed);
            let lives =
                |buffer: &Buffer, step: u32| buffer.first.as_u32() <= step && step <= buffer.last.as_u32();
            let live = |step: u32| -> u64 {
                let alive = problem.buffers.values().filter(|buffer| lives(buffer, step));
                alive.map(|buffer| buffer.size_bytes).sum()
            };
            let found = breadths(&problem);
            let degrees = degrees(&problem);
            for (id, this) in &problem.buffers {
                let steps = this.first.as_u32()..=this.last.as_u32();
                assert_eq!(Some(found[id]), steps.map(live).max(), "{family:?} {seed}: {id}");
                let meets = |other: &&Buffer| this.first <= other.last && other.first <= this.last;
                let count = problem.buffers.values().filter(meets).count();
                assert_eq!(degrees[id], (false, count as u64, 0, 0), "{family:?} {seed}: {id}");
            }
        }
    }
}

#[test]
fn a_placement_that_would_reach_the_limit_is_given_up() {
    let mut pair = problem(&[buffer(0, 1, 4), buffer(1, 2, 6), buffer(5, 6, 3)]);
    let neighbours = Some(Neighbours::all(&pair));
    let order = GreedyOrder::Size.sort(&pair);
    let plain = Greedy { neighbours: None, ..Greedy::new(&pair) };
    let listed = Greedy { neighbours, ..Greedy::new(&pair) };
    for greedy in [&plain, &listed] {
        assert!(greedy.place(&order, Fit::First, 10).is_none());
        let (offsets, size_bytes) = greedy.place(&order, Fit::First, 11).expect("10 bytes are enough");
        assert_eq!((offsets.values().copied().collect::<Vec<u64>>(), size_bytes), (vec![6, 0, 0], 10));
    }
    pair.buffers[id(2)].pin = Some(50);
    let order = GreedyOrder::Size.sort(&pair);
    let neighbours = Some(Neighbours::all(&pair));
    let plain = Greedy { neighbours: None, ..Greedy::new(&pair) };
    let listed = Greedy { neighbours, ..Greedy::new(&pair) };
    for greedy in [&plain, &listed] {
        let (offsets, size_bytes) = greedy.place(&order, Fit::First, u64::MAX).expect("no limit");
        assert_eq!((offsets.values().copied().collect::<Vec<u64>>(), size_bytes), (vec![6, 0, 50], 53));
    }
}

#[test]
fn offsets_are_rounded_up_to_any_alignment() {
    for align in [1, 2, 3, 4, 6, 8, 12, 64] {
        for value in 0..200 {
            let found = round_up(value, align);
            assert!(found % align == 0 && found >= value && found < value + align, "{value} to {align}");
        }
    }
}

/// The offset of a buffer of 4 bytes that is alive with pinned ones of these offsets and sizes.
fn beside(pins: &[(u64, u64)], align: u64, fit: Fit) -> u64 {
    let pinned = pins.iter().map(|(offset, size)| Buffer { pin: Some(*offset), ..buffer(0, 9, *size) });
    let buffers: Vec<Buffer> = pinned.chain([aligned(3, 4, 4, align)]).collect();
    let problem = problem(&buffers);
    let order = GreedyOrder::Size.sort(&problem);
    let separations = Separations::new(&problem);
    let (offsets, _) = greedy(&problem, &separations, &order, fit, u64::MAX).expect("no limit");
    offsets[id(pins.len() as u32)]
}

#[test]
fn a_gap_is_taken_if_it_is_just_large_enough() {
    for fit in [Fit::First, Fit::Best] {
        assert_eq!(beside(&[(4, 6)], 1, fit), 0);
        assert_eq!(beside(&[(3, 6)], 1, fit), 9, "a byte too narrow");
        assert_eq!(beside(&[(0, 5), (9, 2)], 1, fit), 5);
        assert_eq!(beside(&[(0, 5), (9, 2)], 4, fit), 12, "no multiple of 4 lies in it");
        assert_eq!(beside(&[(0, 5), (12, 2)], 4, fit), 8);
    }
    // Gaps of 6, 5 and 5 bytes.
    let three = [(6, 1), (12, 1), (18, 1)];
    assert_eq!(beside(&three, 1, Fit::First), 0);
    assert_eq!(beside(&three, 1, Fit::Best), 7, "the lower one of the tightest");
    assert_eq!(beside(&[(6, 1), (11, 1), (17, 1)], 1, Fit::Best), 7, "what fits exactly");
}

#[test]
fn two_that_may_share_bytes_are_kept_as_far_apart_as_either_order_wants() {
    let offsets = |distances: &[(u32, u32, i64)]| {
        let overlap = |(input, output, min_distance_bytes): &(u32, u32, i64)| Overlap {
            input: id(*input),
            output: id(*output),
            min_distance_bytes: *min_distance_bytes,
        };
        let overlaps = distances.iter().map(overlap).collect();
        let pair = Problem { overlaps, ..problem(&[buffer(0, 1, 100), buffer(1, 2, 40)]) };
        let order = GreedyOrder::Birth.sort(&pair);
        let separations = Separations::new(&pair);
        let found = greedy(&pair, &separations, &order, Fit::First, u64::MAX).expect("no limit");
        assert!(found.1 >= lower_bound(&pair));
        found.0[id(1)]
    };
    assert_eq!(offsets(&[]), 100);
    // The second is the output: its begin may be above the first one's by a negative distance.
    assert_eq!(offsets(&[(0, 1, 30)]), 100);
    assert_eq!(offsets(&[(0, 1, 0)]), 0);
    assert_eq!(offsets(&[(0, 1, -10)]), 0);
    // The second is the input: it is above the first, at that distance.
    assert_eq!(offsets(&[(1, 0, 30)]), 30);
    assert_eq!(offsets(&[(1, 0, 30), (1, 0, 20)]), 20, "what any of them allows");
    assert_eq!(offsets(&[(1, 0, 20), (1, 0, 30)]), 20);
    assert_eq!(offsets(&[(1, 0, 500)]), 100, "no farther than apart");
}
