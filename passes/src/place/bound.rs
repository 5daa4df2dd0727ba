//! Lower bounds of placements.
//!
//! At every step the live buffers must fit, so the largest sum of live bytes is a bound (*max-live*). A sweep
//! over births and deaths finds it in O(n log n). Three sound refinements sharpen it:
//!
//! - **Alignment.** Let `g` divide every alignment. Live buffers stand at multiples of `g`, so each but the
//!   topmost takes its size rounded up to `g`; the topmost is unknown, so the largest rounding is left off.
//! - **Overlap.** A pair that may share bytes saves at most its largest possible intersection. By
//!   Bonferroni's inequality the union is at least the sum of the sizes less the sum of the pairwise
//!   intersections.
//! - **Single buffers.** The arena holds its largest buffer and every pin.
//!
//! Fragmentation arguments over several steps are not used; they are left to the exact search.

use cranelift_entity::EntityRef;

use super::{Buffer, BufferId, Overlap, Problem, Step};
use std::collections::BTreeMap;

/// A size that every placement of `problem` reaches, in bytes: max-live with alignment, less what overlaps
/// may save. O(n log n).
pub fn lower_bound(problem: &Problem) -> u64 {
    peak(problem).map_or(0, |(_, bytes)| bytes).max(single_buffer_bound(problem))
}

/// The peak: the first step with the largest lower bound, and that bound: its live bytes with alignment, less
/// what overlaps may save. None if all buffers are empty.
pub fn peak(problem: &Problem) -> Option<(Step, u64)> {
    sweep(problem, &savings(problem, grain(problem)))
}

/// [`lower_bound`] for the problem without its overlaps: each tensor whole.
pub fn whole_tensor_bound(problem: &Problem) -> u64 {
    sweep(problem, &[]).map_or(0, |(_, bytes)| bytes).max(single_buffer_bound(problem))
}

/// The bytes of the buffers that are live at each step, up to the last step at which any is.
pub fn live_bytes(problem: &Problem) -> Vec<u64> {
    let steps = problem.buffers.values().map(|buffer| buffer.last.index() + 1).max().unwrap_or(0);
    let (mut born, mut dead) = (vec![0; steps + 1], vec![0; steps + 1]);
    for buffer in problem.buffers.values() {
        born[buffer.first.index()] += buffer.size_bytes;
        dead[buffer.last.index() + 1] += buffer.size_bytes;
    }
    let mut live = 0;
    let sums = born.iter().zip(&dead).map(|(born, dead)| {
        live = live + born - dead;
        live
    });
    sums.take(steps).collect()
}

fn single_buffer_bound(problem: &Problem) -> u64 {
    problem.buffers.values().map(|buffer| buffer.pin.unwrap_or(0) + buffer.size_bytes).max().unwrap_or(0)
}

/// A change of the sum of live bytes at a step.
enum LiveEvent {
    Birth(BufferId),
    Death(BufferId),
    Saving(u64),
    SavingEnds(u64),
}

/// The largest saving of a pair, and the steps at which both buffers are live.
struct PairSaving {
    first: u32,
    last: u32,
    bytes: u64,
}

fn sweep(problem: &Problem, savings: &[PairSaving]) -> Option<(Step, u64)> {
    let grain = grain(problem);
    let mut events = events_of(problem, savings);
    events.sort_by_key(|&(step, _)| step);
    let (mut live, mut saved, mut most) = (0u64, 0u64, None);
    let mut roundings: BTreeMap<u64, usize> = BTreeMap::new();
    let mut events = events.into_iter().peekable();
    while let Some((step, event)) = events.next() {
        match event {
            LiveEvent::Birth(id) => {
                let size_bytes = problem.buffers[id].size_bytes;
                let rounded = size_bytes.next_multiple_of(grain);
                live += rounded;
                *roundings.entry(rounded - size_bytes).or_insert(0) += 1;
            }
            LiveEvent::Death(id) => {
                let size_bytes = problem.buffers[id].size_bytes;
                let rounded = size_bytes.next_multiple_of(grain);
                live -= rounded;
                forget(&mut roundings, rounded - size_bytes);
            }
            LiveEvent::Saving(bytes) => saved += bytes,
            LiveEvent::SavingEnds(bytes) => saved -= bytes,
        }
        if events.peek().is_none_or(|&(next, _)| next != step) {
            let rounding = roundings.last_key_value().map_or(0, |(&largest, _)| largest);
            let bytes = live.saturating_sub(rounding).saturating_sub(saved);
            if most.is_none_or(|(_, before)| bytes > before) {
                most = Some((Step::from_u32(step as u32), bytes));
            }
        }
    }
    most
}

fn forget(roundings: &mut BTreeMap<u64, usize>, rounding: u64) {
    let count = roundings.get_mut(&rounding).expect("a buffer dies after its birth");
    *count -= 1;
    if *count == 0 {
        roundings.remove(&rounding);
    }
}

/// All events with their steps; a death counts at the step after the last one.
fn events_of(problem: &Problem, savings: &[PairSaving]) -> Vec<(u64, LiveEvent)> {
    let mut events = Vec::with_capacity(2 * (problem.buffers.len() + savings.len()));
    for (id, buffer) in problem.buffers.iter().filter(|(_, buffer)| buffer.size_bytes > 0) {
        events.push((u64::from(buffer.first.as_u32()), LiveEvent::Birth(id)));
        events.push((u64::from(buffer.last.as_u32()) + 1, LiveEvent::Death(id)));
    }
    for saving in savings {
        events.push((u64::from(saving.first), LiveEvent::Saving(saving.bytes)));
        events.push((u64::from(saving.last) + 1, LiveEvent::SavingEnds(saving.bytes)));
    }
    events
}

/// The greatest common divisor of all alignments, which divides every offset.
fn grain(problem: &Problem) -> u64 {
    problem.buffers.values().filter(|b| b.size_bytes > 0).fold(0, |g, b| gcd(g, b.align)).max(1)
}

/// The largest intersection that each overlap allows, sizes rounded to `grain`; several entries for one pair
/// count once, as the largest.
fn savings(problem: &Problem, grain: u64) -> Vec<PairSaving> {
    let mut pairs: BTreeMap<(BufferId, BufferId), u64> = BTreeMap::new();
    for overlap in &problem.overlaps {
        let key = (overlap.input.min(overlap.output), overlap.input.max(overlap.output));
        let bytes = pairs.entry(key).or_insert(0);
        *bytes = (*bytes).max(largest_intersection(problem, overlap, grain));
    }
    let saving = |((a, b), bytes)| {
        let (a, b): (&Buffer, &Buffer) = (&problem.buffers[a], &problem.buffers[b]);
        let (first, last) = (a.first.max(b.first).as_u32(), a.last.min(b.last).as_u32());
        (first <= last && bytes > 0).then_some(PairSaving { first, last, bytes })
    };
    pairs.into_iter().filter_map(saving).collect()
}

/// With `t = offset(input) - offset(output) >= d`, the intersection is the smaller size if `t` can be chosen
/// so that one contains the other; otherwise it is the rest of the output above `d`.
fn largest_intersection(problem: &Problem, overlap: &Overlap, grain: u64) -> u64 {
    let input = problem.buffers[overlap.input].size_bytes;
    let output = problem.buffers[overlap.output].size_bytes;
    let distance = u64::try_from(overlap.min_distance_bytes).unwrap_or(0);
    if distance >= output {
        return 0;
    }
    input.next_multiple_of(grain).min(output.next_multiple_of(grain) - distance)
}

/// The greatest common divisor; that of 0 and `b` is `b`.
pub(super) fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{aligned, buffer, problem};
    use super::*;

    #[test]
    fn the_bound_is_the_largest_sum_of_live_bytes() {
        assert_eq!(
            lower_bound(&problem(&[buffer(0, 2, 4), buffer(0, 4, 4), buffer(2, 4, 5), buffer(5, 9, 12)])),
            13
        );
    }

    #[test]
    fn lives_are_inclusive_at_both_ends() {
        assert_eq!(lower_bound(&problem(&[buffer(0, 1, 4), buffer(1, 2, 4)])), 8);
        assert_eq!(lower_bound(&problem(&[buffer(0, 1, 4), buffer(2, 2, 4)])), 4);
    }

    #[test]
    fn all_but_the_topmost_buffer_are_rounded_to_the_alignment() {
        assert_eq!(lower_bound(&problem(&[aligned(0, 1, 65, 64), aligned(0, 1, 1, 64)])), 65 + 64);
        assert_eq!(lower_bound(&problem(&[aligned(0, 1, 65, 48), aligned(0, 1, 1, 64)])), 80 + 1);
    }

    #[test]
    fn an_overlap_saves_at_most_what_its_distance_leaves() {
        let mut problem = problem(&[buffer(0, 1, 10), buffer(1, 2, 8)]);
        let overlap = |min_distance_bytes| Overlap {
            input: BufferId::from_u32(0),
            output: BufferId::from_u32(1),
            min_distance_bytes,
        };
        for (distance, bound) in [(-3, 10), (0, 10), (3, 13), (8, 18), (20, 18)] {
            problem.overlaps = vec![overlap(distance)];
            assert_eq!(lower_bound(&problem), bound, "at distance {distance}");
            assert_eq!(whole_tensor_bound(&problem), 18);
        }
    }

    #[test]
    fn a_pin_counts_where_it_stands() {
        let mut problem = problem(&[buffer(0, 1, 10)]);
        problem.buffers[BufferId::from_u32(0)].pin = Some(100);
        assert_eq!(lower_bound(&problem), 110);
    }

    #[test]
    fn nothing_needs_nothing() {
        assert_eq!(lower_bound(&problem(&[])), 0);
        assert_eq!(lower_bound(&problem(&[buffer(0, 9, 0)])), 0);
    }
}
