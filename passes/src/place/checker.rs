//! The checker of placements.
//!
//! The checker knows only the problem and the offsets: it shares no code with the planners. It sweeps over
//! births and deaths, and keeps the live buffers in a tree over their offsets, each node with the highest end
//! below it. So it finds all live buffers that share bytes with a newcomer in O((1 + found) log n). Every
//! violation is listed, in the order of the buffers' births.

use super::{Buffer, BufferId, Placement, Problem};
use std::collections::HashMap;
use std::fmt;

/// A rule that a placement breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Violation {
    /// Offsets for more or fewer buffers than the problem has.
    WrongCount {
        /// The number of offsets.
        found: usize,
        /// The number of buffers.
        expected: usize,
    },
    /// Two buffers alive at one step share bytes, and no overlap allows it.
    SharedBytes {
        /// The one with the earlier first step.
        first: BufferId,
        /// The other one, born while the first is alive.
        second: BufferId,
    },
    /// An overlap allows the two to share bytes, but only farther apart.
    TooClose {
        /// The overlap's input.
        input: BufferId,
        /// The overlap's output.
        output: BufferId,
        /// `offset(input) - offset(output)`, as placed.
        found: i64,
        /// The distance that would be enough: the smallest of all entries for this pair.
        expected: i64,
    },
    /// The offset is not a multiple of the alignment.
    Misaligned(BufferId),
    /// The offset is not the pinned one.
    NotAtItsPin(BufferId),
    /// A buffer without bytes is not at offset 0.
    EmptyNotAtZero(BufferId),
    /// The buffer ends above the capacity.
    AboveCapacity(BufferId),
    /// The stated size is not the highest end.
    WrongSize {
        /// What the placement states.
        found: u64,
        /// The highest end of a buffer.
        expected: u64,
    },
    /// The stated size is below the stated bound, so one of the two is wrong.
    BelowBound,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WrongCount { found, expected } => {
                write!(f, "{found} offsets, expected {expected}")
            }
            Self::SharedBytes { first, second } => {
                write!(f, "{first} and {second} share bytes while both live")
            }
            Self::TooClose { input, output, found, expected } => write!(
                f,
                "input {input} is {found} bytes above output {output}, expected at least {expected}, or no shared bytes"
            ),
            Self::Misaligned(buffer) => {
                write!(f, "the offset of {buffer} is not a multiple of its alignment")
            }
            Self::NotAtItsPin(buffer) => {
                write!(f, "{buffer} is not at the offset where it is pinned")
            }
            Self::EmptyNotAtZero(buffer) => {
                write!(f, "{buffer} has no bytes, expected at offset 0")
            }
            Self::AboveCapacity(buffer) => write!(f, "{buffer} ends above the capacity"),
            Self::WrongSize { found, expected } => {
                write!(f, "the size is given as {found}, expected {expected}")
            }
            Self::BelowBound => write!(f, "the size is below the lower bound"),
        }
    }
}

/// All violations of `placement`; none if it is right. O((n + violations + shared pairs) log n).
pub fn check_placement(problem: &Problem, placement: &Placement) -> Vec<Violation> {
    let (found, expected) = (placement.offsets.len(), problem.buffers.len());
    if found != expected {
        return vec![Violation::WrongCount { found, expected }];
    }
    let mut violations = Vec::new();
    let mut highest = 0;
    for (id, buffer) in &problem.buffers {
        check_alone(problem, id, buffer, placement.offsets[id], &mut violations);
        highest = highest.max(end(buffer, placement.offsets[id]));
    }
    if placement.size_bytes != highest {
        violations.push(Violation::WrongSize { found: placement.size_bytes, expected: highest });
    }
    if placement.size_bytes < placement.lower_bound_bytes {
        violations.push(Violation::BelowBound);
    }
    check_pairs(problem, placement, &mut violations);
    violations
}

/// The first byte above the buffer; saturates for an offset near the end of the number range.
fn end(buffer: &Buffer, offset: u64) -> u64 {
    if buffer.size_bytes == 0 { 0 } else { offset.saturating_add(buffer.size_bytes) }
}

fn check_alone(
    problem: &Problem,
    id: BufferId,
    buffer: &Buffer,
    offset: u64,
    violations: &mut Vec<Violation>,
) {
    if buffer.size_bytes == 0 {
        if offset != 0 {
            violations.push(Violation::EmptyNotAtZero(id));
        }
        return;
    }
    if !offset.is_multiple_of(buffer.align) {
        violations.push(Violation::Misaligned(id));
    }
    if buffer.pin.is_some_and(|pin| pin != offset) {
        violations.push(Violation::NotAtItsPin(id));
    }
    if problem.capacity.is_some_and(|capacity| end(buffer, offset) > capacity) {
        violations.push(Violation::AboveCapacity(id));
    }
}

/// The distance of each overlap, by (input, output).
type Distances = HashMap<(BufferId, BufferId), i64>;

fn check_pairs(problem: &Problem, placement: &Placement, violations: &mut Vec<Violation>) {
    let mut distances = Distances::new();
    for overlap in &problem.overlaps {
        let distance = distances.entry((overlap.input, overlap.output)).or_insert(i64::MAX);
        *distance = (*distance).min(overlap.min_distance_bytes);
    }
    let mut by_offset: Vec<BufferId> =
        problem.buffers.keys().filter(|&id| problem.buffers[id].size_bytes > 0).collect();
    let mut births = by_offset.clone();
    let mut deaths = by_offset.clone();
    by_offset.sort_by_key(|&id| (placement.offsets[id], id));
    births.sort_by_key(|&id| (problem.buffers[id].first, id));
    deaths.sort_by_key(|&id| problem.buffers[id].last);
    let mut live = LiveEnds::new(by_offset, placement);
    let mut deaths = deaths.into_iter().peekable();
    for id in births {
        let buffer = &problem.buffers[id];
        while let Some(dead) = deaths.next_if(|&dead| problem.buffers[dead].last < buffer.first) {
            live.set(dead, 0);
        }
        let offset = placement.offsets[id];
        let end = end(buffer, placement.offsets[id]);
        live.for_each_meeting(offset, end, |other| {
            violations.extend(check_shared(&distances, placement, other, id));
        });
        live.set(id, end);
    }
}

/// Whether two live buffers that share bytes violate the rules: no overlap allows it, or they are too close.
fn check_shared(
    distances: &Distances,
    placement: &Placement,
    first: BufferId,
    second: BufferId,
) -> Option<Violation> {
    let offset = |id| i64::try_from(placement.offsets[id]).unwrap_or(i64::MAX);
    let mut violation = Violation::SharedBytes { first, second };
    for (input, output) in [(first, second), (second, first)] {
        if let Some(&expected) = distances.get(&(input, output)) {
            let found = offset(input) - offset(output);
            if found >= expected {
                return None;
            }
            violation = Violation::TooClose { input, output, found, expected };
        }
    }
    Some(violation)
}

/// The ends of the live buffers, as a complete binary tree whose leaves are the buffers by offset.
struct LiveEnds {
    /// The buffer at each leaf.
    leaves: Vec<BufferId>,
    /// The offset at each leaf, ascending.
    offsets: Vec<u64>,
    /// The leaf of each buffer.
    leaf_of: HashMap<BufferId, usize>,
    /// The highest end below each node; 0 if no live buffer is below it. Node 1 is the root, the children of
    /// `i` are `2 i` and `2 i + 1`, and leaf `i` is node `width + i`.
    highest: Vec<u64>,
    width: usize,
}

impl LiveEnds {
    fn new(leaves: Vec<BufferId>, placement: &Placement) -> Self {
        let width = leaves.len().next_power_of_two();
        let offsets = leaves.iter().map(|&id| placement.offsets[id]).collect();
        let leaf_of = leaves.iter().enumerate().map(|(leaf, &id)| (id, leaf)).collect();
        Self { leaves, offsets, leaf_of, highest: vec![0; 2 * width], width }
    }

    /// Makes a buffer live up to `end`, or dead with an end of 0.
    fn set(&mut self, id: BufferId, end: u64) {
        let mut node = self.width + self.leaf_of[&id];
        self.highest[node] = end;
        while node > 1 {
            node /= 2;
            self.highest[node] = self.highest[2 * node].max(self.highest[2 * node + 1]);
        }
    }

    /// Calls `visit` for every live buffer with a byte in `offset..end`, in ascending order of offsets.
    fn for_each_meeting(&self, offset: u64, end: u64, mut visit: impl FnMut(BufferId)) {
        let below_end = self.offsets.partition_point(|&start| start < end);
        let mut stack = vec![(1, 0, self.width)];
        while let Some((node, first_leaf, count)) = stack.pop() {
            if first_leaf >= below_end || self.highest[node] <= offset {
                continue;
            }
            if count == 1 {
                visit(self.leaves[first_leaf]);
            } else {
                stack.push((2 * node + 1, first_leaf + count / 2, count / 2));
                stack.push((2 * node, first_leaf, count / 2));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::random::Random;
    use super::super::testing::{Family, aligned, buffer, problem};
    use super::super::{Overlap, PlannerOptions, place};
    use super::*;
    use Violation::*;

    fn id(index: u32) -> BufferId {
        BufferId::from_u32(index)
    }

    fn placement(offsets: &[u64], size_bytes: u64) -> Placement {
        let offsets = offsets.iter().copied().collect();
        Placement { offsets, size_bytes, lower_bound_bytes: 0, proved_best: false, planner: "test" }
    }

    #[test]
    fn every_pair_that_shares_bytes_is_listed() {
        let problem = problem(&[buffer(0, 9, 100), buffer(1, 2, 5), buffer(2, 3, 5), buffer(4, 5, 5)]);
        let shared = |first, second| SharedBytes { first: id(first), second: id(second) };
        let found = check_placement(&problem, &placement(&[0, 50, 54, 50], 100));
        assert_eq!(found, [shared(0, 1), shared(0, 2), shared(1, 2), shared(0, 3)]);
        assert_eq!(check_placement(&problem, &placement(&[0, 100, 105, 100], 110)), []);
    }

    #[test]
    fn lives_that_touch_in_one_step_conflict() {
        let problem = problem(&[buffer(0, 1, 4), buffer(1, 2, 4)]);
        assert_eq!(
            check_placement(&problem, &placement(&[0, 0], 4)),
            [SharedBytes { first: id(0), second: id(1) }]
        );
    }

    #[test]
    fn an_overlap_holds_only_from_its_distance_on() {
        let mut problem = problem(&[buffer(0, 1, 8), buffer(1, 2, 8)]);
        problem.overlaps.push(Overlap { input: id(0), output: id(1), min_distance_bytes: 3 });
        assert_eq!(check_placement(&problem, &placement(&[3, 0], 11)), []);
        assert_eq!(check_placement(&problem, &placement(&[0, 8], 16)), []);
        let close = TooClose { input: id(0), output: id(1), found: 2, expected: 3 };
        assert_eq!(check_placement(&problem, &placement(&[2, 0], 10)), [close]);
        problem.overlaps.push(Overlap { input: id(0), output: id(1), min_distance_bytes: 2 });
        assert_eq!(check_placement(&problem, &placement(&[2, 0], 10)), []);
    }

    #[test]
    fn each_buffer_is_judged_alone() {
        let mut problem = problem(&[aligned(0, 0, 4, 4), buffer(1, 1, 4), buffer(2, 2, 4), buffer(3, 3, 0)]);
        problem.buffers[id(1)].pin = Some(1);
        problem.capacity = Some(9);
        let found = check_placement(&problem, &placement(&[2, 2, 6, 1], 10));
        assert_eq!(
            found,
            [Misaligned(id(0)), NotAtItsPin(id(1)), AboveCapacity(id(2)), EmptyNotAtZero(id(3))]
        );
    }

    #[test]
    fn the_numbers_about_the_whole_are_judged() {
        let problem = problem(&[buffer(0, 0, 4)]);
        assert_eq!(check_placement(&problem, &placement(&[0], 5)), [WrongSize { found: 5, expected: 4 }]);
        assert_eq!(check_placement(&problem, &placement(&[], 0)), [WrongCount { found: 0, expected: 1 }]);
        let placement = Placement { lower_bound_bytes: 5, ..placement(&[0], 4) };
        assert_eq!(check_placement(&problem, &placement), [BelowBound]);
    }

    /// The rule itself, word for word and in O(n^2): the oracle of the sweep.
    fn pairs_that_share(problem: &Problem, placement: &Placement) -> Vec<(BufferId, BufferId)> {
        let ids: Vec<BufferId> = problem.buffers.keys().collect();
        let mut pairs = Vec::new();
        for (i, &a) in ids.iter().enumerate() {
            for &b in &ids[i + 1..] {
                let (x, y) = (&problem.buffers[a], &problem.buffers[b]);
                let (at, bt) = (placement.offsets[a], placement.offsets[b]);
                let allowed = |input: BufferId, output: BufferId| {
                    let distance = placement.offsets[input] as i64 - placement.offsets[output] as i64;
                    let fits = |o: &Overlap| {
                        o.input == input && o.output == output && distance >= o.min_distance_bytes
                    };
                    problem.overlaps.iter().any(fits)
                };
                let together = x.first <= y.last && y.first <= x.last;
                let meet =
                    at < bt + y.size_bytes && bt < at + x.size_bytes && x.size_bytes * y.size_bytes > 0;
                if together && meet && !allowed(a, b) && !allowed(b, a) {
                    pairs.push((a, b));
                }
            }
        }
        pairs
    }

    #[test]
    fn the_sweep_finds_what_the_law_says_on_random_plans() {
        let mut random = Random(7);
        for seed in 0..300 {
            let problem = Family::ALL[seed as usize % Family::ALL.len()].draw(2 + seed as u32 % 30, seed);
            let offsets: Vec<u64> = problem.buffers.keys().map(|_| random.range(0, 60)).collect();
            let placement = placement(&offsets, 0);
            let pair = |violation: Violation| match violation {
                SharedBytes { first, second } => Some((first.min(second), first.max(second))),
                TooClose { input, output, .. } => Some((input.min(output), input.max(output))),
                _ => None,
            };
            let mut found: Vec<_> =
                check_placement(&problem, &placement).into_iter().filter_map(pair).collect();
            found.sort();
            assert_eq!(found, pairs_that_share(&problem, &placement), "seed {seed}");
        }
    }

    #[test]
    fn every_corrupted_plan_is_rejected() {
        let mut rejected = 0;
        for seed in 0..200 {
            let problem = Family::ALL[seed as usize % Family::ALL.len()].draw(3 + seed as u32 % 20, seed);
            let good = place(&problem, &PlannerOptions::default());
            assert_eq!(check_placement(&problem, &good), [], "seed {seed}");
            for (victim, _) in problem.buffers.iter().filter(|(_, buffer)| buffer.size_bytes > 0) {
                rejected += reject_moves(&problem, &good, victim);
                rejected += reject_growth(&problem, &good, victim);
            }
            let shrunk = Placement { size_bytes: good.size_bytes.wrapping_sub(1), ..good.clone() };
            assert_ne!(check_placement(&problem, &shrunk), [], "a smaller size, seed {seed}");
        }
        assert!(rejected > 2000, "only {rejected} corrupted plans were tried");
    }

    /// Moves a buffer onto each buffer that is alive with it. Returns the number of such placements, all
    /// rejected.
    fn reject_moves(problem: &Problem, good: &Placement, victim: BufferId) -> u32 {
        let mut count = 0;
        for (other, _) in &problem.buffers {
            let mut bad = good.clone();
            bad.offsets[victim] = good.offsets[other];
            if pairs_that_share(problem, &bad).is_empty() {
                continue;
            }
            count += 1;
            let named = check_placement(problem, &bad).into_iter().any(|violation| match violation {
                SharedBytes { first, second } => first == victim || second == victim,
                TooClose { input, output, .. } => input == victim || output == victim,
                _ => false,
            });
            assert!(named, "{victim} moved onto {other}");
        }
        count
    }

    /// Extends a buffer's size or live range after it was placed, so that it meets a neighbour.
    fn reject_growth(problem: &Problem, good: &Placement, victim: BufferId) -> u32 {
        let mut count = 0;
        let mut longer = problem.clone();
        longer.buffers[victim].last = problem.buffers.values().map(|b| b.last).max().expect("a buffer");
        longer.buffers[victim].first = super::super::Step::from_u32(0);
        let mut larger = problem.clone();
        larger.buffers[victim].size_bytes += 1;
        for problem in [longer, larger] {
            let bad_pairs = pairs_that_share(&problem, good);
            count += bad_pairs.len() as u32;
            assert!(bad_pairs.is_empty() || !check_placement(&problem, good).is_empty(), "{victim} grew");
        }
        count
    }
}
