//! Local search for a better order of placement than the classical ones.
//!
//! Squeaky wheel optimization (Joslin and Clements, 1999): the buffer that ends on top was placed too late.
//! It, or a buffer alive with it, moves to an earlier position in the order, and everything is placed again
//! by first fit. A change is kept unless the result is worse, so the walk can cross plateaus. The walk uses
//! no bound and proves nothing, but works with pins and overlaps, which the exact search does not model.

use super::best::Best;
use super::greedy::{Fit, Greedy, GreedyOrder};
use super::random::Random;
use super::{BufferId, PlannerOptions, Problem, Stop};
use cranelift_entity::PrimaryMap;

/// The number of buffers placed again at the cost of one node of the exact search.
const PLACED_PER_NODE: u64 = 16;

/// The orders from which the walks start.
const STARTS: [GreedyOrder; 4] =
    [GreedyOrder::Size, GreedyOrder::PeakLife, GreedyOrder::BreadthLife, GreedyOrder::Area];

/// Walks from each of [`STARTS`] until a placement is enough, the nodes are used up, or `stop` returns true.
pub(super) fn improve(problem: &Problem, options: &PlannerOptions, stop: Stop<'_>, best: &mut Best) {
    let greedy = Greedy::new(problem);
    let moves = options.max_nodes.saturating_mul(PLACED_PER_NODE) / (problem.buffers.len() as u64).max(1);
    for (seed, start) in STARTS.into_iter().enumerate() {
        let order = start.sort(problem);
        if best.is_enough() || order.len() < 2 {
            return;
        }
        let Some((offsets, size_bytes)) = greedy.place(&order, Fit::First, u64::MAX) else {
            return;
        };
        let random = Random(seed as u64);
        let mut walk = Walk { problem, greedy: &greedy, order, offsets, size_bytes, random };
        for _ in 0..moves / STARTS.len() as u64 {
            if stop() {
                return;
            }
            walk.step();
            best.offer_ref(&walk.offsets, walk.size_bytes, "reorder");
            if best.is_enough() {
                return;
            }
        }
    }
}

/// An order and its placement.
struct Walk<'p> {
    problem: &'p Problem,
    greedy: &'p Greedy<'p>,
    order: Vec<BufferId>,
    offsets: PrimaryMap<BufferId, u64>,
    size_bytes: u64,
    random: Random,
}

impl Walk<'_> {
    /// Moves one buffer to an earlier position, unless the result is worse.
    fn step(&mut self) {
        let late = self.pick();
        if late == 0 {
            return;
        }
        let early = self.random.range(0, late as u64 - 1) as usize;
        self.order[early..=late].rotate_right(1);
        let placed = self.greedy.place(&self.order, Fit::First, self.size_bytes + 1);
        match placed {
            Some((offsets, size_bytes)) => (self.offsets, self.size_bytes) = (offsets, size_bytes),
            None => self.order[early..=late].rotate_left(1),
        }
    }

    /// A buffer on top, or (half of the time) one alive with it; its position in the order.
    fn pick(&mut self) -> usize {
        let end = |id: BufferId| self.offsets[id] + self.problem.buffers[id].size_bytes;
        let tops: Vec<usize> =
            (0..self.order.len()).filter(|&i| end(self.order[i]) == self.size_bytes).collect();
        let Some(&top) = tops.get(self.random.next() as usize % tops.len().max(1)) else { return 0 };
        if self.random.range(0, 1) == 0 {
            return top;
        }
        let this = &self.problem.buffers[self.order[top]];
        let lives_with = |&i: &usize| {
            let other = &self.problem.buffers[self.order[i]];
            other.first <= this.last && this.first <= other.last
        };
        let near: Vec<usize> = (0..self.order.len()).filter(lives_with).collect();
        near[self.random.next() as usize % near.len()]
    }
}
