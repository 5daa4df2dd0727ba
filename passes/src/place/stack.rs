//! Exhaustive search for the smallest placement of a few buffers with pins or overlaps.
//!
//! In a placement with the smallest sum of offsets, no single buffer can be lowered: each is at 0 or as low
//! as another one below it allows. So placing the buffers one by one, each at 0 or right above a placed one,
//! finds all such placements. Of the orders that lead to one placement only one is tried. If every distance
//! is at least 0, it is the order of ascending offsets; otherwise, consecutive buffers that do not stand on
//! each other are in the order of the table. Without overlaps, an attempt ends if at some step the waiting
//! buffers do not fit above the last offset.
//!
//! The first target is the bound, then ever smaller sizes than the best so far, so the result may be proved
//! best. Exponential, but bounded by nodes.

use super::best::Best;
use super::portfolio::try_orders;
use super::separations::Separations;
use super::{BufferId, Placement, PlannerOptions, Problem, Stop};
use cranelift_entity::{PrimaryMap, SecondaryMap};

/// The limit of buffers with bytes.
const MOST_BUFFERS: usize = 24;

/// The number of offsets tried per node of the exact search.
const TRIES_PER_NODE: u64 = 8;

/// The portfolio, then [`improve`].
pub(super) fn stack(problem: &Problem, options: &PlannerOptions, stop: Stop<'_>) -> Placement {
    let mut best = Best::new(problem);
    try_orders(problem, &mut best, stop, ..);
    improve(problem, options, stop, &mut best);
    best.into_placement()
}

/// Searches for smaller placements until one is enough or proved best, the nodes are used up, or `stop`
/// returns true.
pub(super) fn improve(problem: &Problem, options: &PlannerOptions, stop: Stop<'_>, best: &mut Best) {
    let count = problem.buffers.values().filter(|buffer| buffer.size_bytes > 0).count();
    if count > MOST_BUFFERS {
        return;
    }
    let mut tries = options.max_nodes.saturating_mul(TRIES_PER_NODE);
    let mut target = best.target();
    while !best.is_enough() {
        let mut search = StackSearch::new(problem, target, tries, stop);
        match search.extend(0, None) {
            Answer::Found => {
                let offsets: PrimaryMap<BufferId, u64> =
                    problem.buffers.keys().map(|id| search.offsets[id].unwrap_or(0)).collect();
                let ends = offsets.iter().map(|(id, offset)| offset + problem.buffers[id].size_bytes);
                let size_bytes = ends.max().unwrap_or(0);
                best.offer(Some((offsets, size_bytes)), "stack");
            }
            Answer::None if target == best.target() && problem.capacity.is_some() => return,
            Answer::None => best.prove_above(target, 1),
            Answer::Unknown => return,
        }
        tries = search.tries;
        target = best.size_bytes.saturating_sub(1);
    }
}

/// Whether a placement was found, there is none, or the tries were used up.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Answer {
    Found,
    None,
    Unknown,
}

struct StackSearch<'p> {
    problem: &'p Problem,
    separations: Separations,
    size_bytes: u64,
    offsets: SecondaryMap<BufferId, Option<u64>>,
    /// The buffers that have an offset, pinned ones first.
    placed: Vec<BufferId>,
    /// The buffers that have none yet.
    waiting: Vec<BufferId>,
    /// Whether a buffer never begins below the one that it stands on.
    goes_up: bool,
    tries: u64,
    stop: Stop<'p>,
}

impl<'p> StackSearch<'p> {
    fn new(problem: &'p Problem, size_bytes: u64, tries: u64, stop: Stop<'p>) -> StackSearch<'p> {
        let goes_up = problem.overlaps.iter().all(|overlap| overlap.min_distance_bytes >= 0);
        let mut offsets = SecondaryMap::new();
        let mut placed = Vec::new();
        let mut waiting = Vec::new();
        for (id, buffer) in problem.buffers.iter().filter(|(_, buffer)| buffer.size_bytes > 0) {
            offsets[id] = buffer.pin;
            if buffer.pin.is_some() { &mut placed } else { &mut waiting }.push(id);
        }
        let separations = Separations::new(problem);
        StackSearch { problem, separations, size_bytes, offsets, placed, waiting, goes_up, tries, stop }
    }

    /// Places the waiting buffers, none below `floor`; `previous` was placed last.
    fn extend(&mut self, floor: u64, previous: Option<BufferId>) -> Answer {
        if self.waiting.is_empty() {
            return Answer::Found;
        }
        if !self.has_room(floor) {
            return Answer::None;
        }
        for index in 0..self.waiting.len() {
            let id = self.waiting.remove(index);
            self.placed.push(id);
            for offset in self.candidates(id, floor, previous) {
                self.tries = self.tries.saturating_sub(1);
                if self.tries == 0 || (self.tries.is_multiple_of(1024) && (self.stop)()) {
                    return Answer::Unknown;
                }
                self.offsets[id] = Some(offset);
                let answer = self.extend(if self.goes_up { offset } else { 0 }, Some(id));
                if answer != Answer::None {
                    return answer;
                }
            }
            self.offsets[id] = None;
            self.placed.pop();
            self.waiting.insert(index, id);
        }
        Answer::None
    }

    /// Whether the waiting buffers fit above the floor, at each step at which one of them begins to live.
    fn has_room(&self, floor: u64) -> bool {
        let buffers = &self.problem.buffers;
        let end = |id: &BufferId| floor + buffers[*id].size_bytes;
        if self.waiting.iter().any(|id| end(id) > self.size_bytes) {
            return false;
        }
        if !self.problem.overlaps.is_empty() {
            return true;
        }
        let room = |id: &BufferId| {
            let step = buffers[*id].first;
            let lives = |other: &&BufferId| buffers[**other].first <= step && step <= buffers[**other].last;
            let waiting: u64 =
                self.waiting.iter().filter(lives).map(|other| buffers[*other].size_bytes).sum();
            let above = |other: &BufferId| {
                let start = self.offsets[*other].unwrap_or(0);
                (start + buffers[*other].size_bytes).saturating_sub(start.max(floor))
            };
            let placed: u64 = self.placed.iter().filter(lives).map(above).sum();
            floor + waiting + placed <= self.size_bytes
        };
        self.waiting.iter().all(room)
    }

    /// The possible offsets of a buffer, ascending: 0 or right above a placed one.
    fn candidates(&self, id: BufferId, floor: u64, previous: Option<BufferId>) -> Vec<u64> {
        let this = &self.problem.buffers[id];
        let supports = self.placed.iter().filter_map(|other| {
            let offset = self.offsets[*other]? as i64 + self.separations.distance(self.problem, *other, id);
            Some((u64::try_from(offset).unwrap_or(0).next_multiple_of(this.align), Some(*other)))
        });
        let mut offsets: Vec<(u64, bool)> = supports
            .chain([(0, None)])
            .map(|(offset, support)| (offset, previous.is_none() || support == previous))
            .collect();
        offsets.sort_unstable_by_key(|(offset, is_on_previous)| (*offset, !is_on_previous));
        offsets.dedup_by_key(|(offset, _)| *offset);
        let is_first_of_orders = |is_on_previous: bool| self.goes_up || is_on_previous || previous < Some(id);
        let fits = |(offset, is_on_previous): (u64, bool)| {
            let is_inside = offset >= floor && offset + this.size_bytes <= self.size_bytes;
            (is_inside && is_first_of_orders(is_on_previous) && self.is_free(id, offset)).then_some(offset)
        };
        offsets.into_iter().filter_map(fits).collect()
    }

    fn is_free(&self, id: BufferId, offset: u64) -> bool {
        let this = &self.problem.buffers[id];
        self.placed.iter().all(|&other| {
            let that = &self.problem.buffers[other];
            let Some(at) = self.offsets[other].filter(|_| other != id) else { return true };
            let lives = this.first <= that.last && that.first <= this.last;
            let (low, high) = self.separations.forbidden(self.problem, id, other, at);
            !(lives && low < offset as i64 && (offset as i64) < high)
        })
    }
}

#[cfg(test)]
#[path = "stack_tests.rs"]
mod stack_tests;

#[cfg(test)]
mod tests {
    use super::super::laws::brute_force;
    use super::super::lower_bound;
    use super::super::testing::Family;
    use super::*;

    fn answer(problem: &Problem, size_bytes: u64) -> Answer {
        StackSearch::new(problem, size_bytes, u64::MAX, &|| false).extend(0, None)
    }

    #[test]
    fn the_smallest_size_is_found_and_none_below_it() {
        let mut above_the_bound = 0;
        for family in Family::ALL {
            for seed in 0..60 {
                let problem = family.draw(3 + seed as u32 % 4, seed);
                let least = brute_force(&problem);
                assert!(answer(&problem, least) == Answer::Found, "{family:?} seed {seed}: {least} bytes");
                if least > lower_bound(&problem) {
                    assert!(answer(&problem, least - 1) == Answer::None, "{family:?} seed {seed}");
                    above_the_bound += 1;
                }
            }
        }
        assert!(above_the_bound > 20, "only {above_the_bound} problems need a proof");
    }
}
